DROP TABLE messaging_tokens;
