/** Escapes text that comes from jobs, so that it is safe to print on a terminal. */
export {
  safeLine as oneLine,
  safeLines as indentedLines,
  safeText as plain,
} from '../../job/text/safe-text.ts'
