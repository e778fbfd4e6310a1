-- Captchas are kept and shown as PNG alone: programs read the vector form at once, and it doubled what is kept. The column
-- stays for older instances that run beside newer ones.
ALTER TABLE captchas ALTER svg SET DEFAULT '';
