/**
 * What code declared last, and what an operator overrode of it with who and when. What counts stays in the columns of before, so that no other statement
 * changes. Rows of before have neither part: what counts there is taken for code's until the next declaration.
 */
export const OVERRIDES = `
ALTER TABLE jobmill.queue ADD COLUMN code json, ADD COLUMN overrides json NOT NULL DEFAULT '{}';
ALTER TABLE jobmill.limit ADD COLUMN code json, ADD COLUMN overrides json NOT NULL DEFAULT '{}';
ALTER TABLE jobmill.schedule ADD COLUMN stamps json NOT NULL DEFAULT '{}';
`
