/**
 * `jobmill/cli`: the parts of the command line that other programs share, so that arguments, help, errors and
 * exit codes behave alike.
 */
export {
  EXIT,
  type ParsedArguments as Given,
  type Lines,
  type Option,
  type Shape,
} from './cli/program/command.ts'
export { endWith } from './cli/program/end-with.ts'
export { safeLine as oneLine, safeLines as indentedLines, safeText as plain } from './job/text/safe-text.ts'
export { type Explained, type Program, runProgram } from './cli/program/program.ts'
export { standardLines } from './cli/output/terminal.ts'
export { numberOf } from './cli/program/typed-values.ts'
export { optionText as typed } from './cli/output/wording.ts'
export { ignoreOutputErrors, writeOutput } from './platform/write-output.ts'
export { nearest } from './job/options/known-keys.ts'
