/** Prints diagnostics, the most severe first, each with its fix. */
import type { Diagnostic } from '../../store/admin/admin.ts'
import { oneLine } from '../plain.ts'
import type { Style, Terminal } from '../terminal.ts'
import { countText } from '../wording.ts'

const LEVELS = ['error', 'warning', 'ok'] as const satisfies readonly Diagnostic['level'][]
const STYLES: Readonly<Record<Diagnostic['level'], Style>> = { error: 'red', warning: 'yellow', ok: 'green' }

export function bySeverity(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return LEVELS.flatMap((level) => diagnostics.filter((one) => one.level === level))
}

export function countOf(diagnostics: readonly Diagnostic[], level: Diagnostic['level']): number {
  return diagnostics.filter((one) => one.level === level).length
}

export function printDiagnostics(diagnostics: readonly Diagnostic[], terminal: Terminal): void {
  const width = Math.max(0, ...diagnostics.map(({ check }) => check.length))
  for (const { level, check, message, fix } of bySeverity(diagnostics)) {
    terminal.out(
      `${terminal.paint(STYLES[level], level.padEnd(7))} ${check.padEnd(width)}  ${oneLine(message)}`,
    )
    if (fix !== null)
      terminal.out(`${' '.repeat(7)} ${' '.repeat(width)}  ${terminal.paint('bold', 'fix:')} ${oneLine(fix)}`)
  }
  terminal.out(
    `${countText(countOf(diagnostics, 'error'), 'error')}, ${countText(countOf(diagnostics, 'warning'), 'warning')}`,
  )
}
