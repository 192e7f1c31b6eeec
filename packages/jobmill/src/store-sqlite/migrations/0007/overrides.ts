/**
 * What code declared last, and what an operator overrode of it with who and when. What counts stays in the columns of before, so that no other statement
 * changes. Rows of before have neither part: what counts there is taken for code's until the next declaration.
 */
export const OVERRIDES = `
ALTER TABLE jobmill_queue ADD COLUMN code TEXT; -- JSON: the options that code names; NULL when code does not declare it
ALTER TABLE jobmill_queue ADD COLUMN overrides TEXT NOT NULL DEFAULT '{}'; -- JSON: { option: { value, by, at } }
ALTER TABLE jobmill_limit ADD COLUMN code TEXT;
ALTER TABLE jobmill_limit ADD COLUMN overrides TEXT NOT NULL DEFAULT '{}';
ALTER TABLE jobmill_schedule ADD COLUMN stamps TEXT NOT NULL DEFAULT '{}'; -- JSON: { option of operator: { by, at } }
`
