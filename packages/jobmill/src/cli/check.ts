/** `jobmill check`: says everything that is wrong with a config, and what looks odd. */
import type { MillOptions } from '../runtime/options.ts'
import { checkOptions } from '../runtime/mill.ts'
import type { Terminal } from './terminal.ts'

/** 1 when there is an error, 0 otherwise. */
export function check(options: MillOptions, terminal: Terminal): number {
  const problems = checkOptions(options)
  for (const { level, code, message } of problems) terminal.out(`${level.padEnd(7)} ${code} ${message}`)
  const errors = problems.filter(({ level }) => level === 'error').length
  const warnings = problems.length - errors
  terminal.out(`${errors} errors, ${warnings} warnings`)
  return errors > 0 ? 1 : 0
}
