/** Text of jobs and their senders, for a terminal. */
export { safeLine as oneLine, safeLines as indentedLines, safeText as plain } from '../job/safe-text.ts'
