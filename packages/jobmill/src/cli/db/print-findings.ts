/** Findings for people: the worst first, each with what to do. */
import type { Finding } from '../../store/keeping.ts'
import { oneLine } from '../plain.ts'
import type { Style, Terminal } from '../terminal.ts'
import { counted } from '../wording.ts'

const LEVELS = ['error', 'warning', 'ok'] as const satisfies readonly Finding['level'][]
const STYLES: Readonly<Record<Finding['level'], Style>> = { error: 'red', warning: 'yellow', ok: 'green' }

export function bySeverity(findings: readonly Finding[]): Finding[] {
  return LEVELS.flatMap((level) => findings.filter((one) => one.level === level))
}

export function countOf(findings: readonly Finding[], level: Finding['level']): number {
  return findings.filter((one) => one.level === level).length
}

export function printFindings(findings: readonly Finding[], terminal: Terminal): void {
  const width = Math.max(0, ...findings.map(({ check }) => check.length))
  for (const { level, check, says, fix } of bySeverity(findings)) {
    terminal.out(`${terminal.paint(STYLES[level], level.padEnd(7))} ${check.padEnd(width)}  ${oneLine(says)}`)
    if (fix !== null)
      terminal.out(`${' '.repeat(7)} ${' '.repeat(width)}  ${terminal.paint('bold', 'fix:')} ${oneLine(fix)}`)
  }
  terminal.out(
    `${counted(countOf(findings, 'error'), 'error')}, ${counted(countOf(findings, 'warning'), 'warning')}`,
  )
}
