// Writes the report as JSON: one figure or target per line, so that two runs are easy to compare with a diff.
import type { Report } from './report.ts'

export function toJson(report: Report): string {
  const { targets, figures, ...head } = report
  const start = JSON.stringify(head, null, 2).replace(/\n\}$/, '')
  return `${start},\n  "targets": ${linesOf(targets)},\n  "figures": ${linesOf(figures)}\n}\n`
}

function linesOf(list: readonly unknown[]): string {
  return list.length === 0 ? '[]' : `[\n${list.map((one) => `    ${JSON.stringify(one)}`).join(',\n')}\n  ]`
}
