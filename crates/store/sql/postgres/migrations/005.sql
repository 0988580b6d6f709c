-- Tokens are events. A store from before this step has them as rows of the shelf: the program makes events of those first,
-- and then takes this step, after which no row becomes a token. The tables stay as they are.
SELECT 1;
