/** Where a database differs from what the migrations make of it: somebody changed it by hand, or a restore was not complete. */
import { broken, type Diagnostic, warning, well } from './admin.ts'

/**
 * What there is, by its name, and how it is made: `table job`, `column job.priority`, `index job.job_pkey`, `trigger …`, `function …`, `sequence …`.
 * A store adds none of which it does not know how to put it back.
 */
export type Parts = ReadonlyMap<string, string>

/** How to put things back. */
export interface Mending {
  readonly missing: (part: string, made: string) => string
  readonly other: (part: string, made: string) => string
  /** For a column that no migration made. */
  readonly foreign: (part: string) => string
}

export function driftDiagnostics(expected: Parts, found: Parts, mend: Mending): Diagnostic[] {
  const diagnostics = [
    ...missingParts(expected, found).map(([part, made]) =>
      broken(checkOf(part), `the ${part} is missing`, mend.missing(part, made)),
    ),
    ...otherParts(expected, found).map(([part, made]) =>
      broken(checkOf(part), `the ${part} is not as the migrations make it`, mend.other(part, made)),
    ),
    ...foreignColumns(expected, found).map((part) =>
      warning(checkOf(part), `the ${part} is none of ours`, mend.foreign(part)),
    ),
  ]
  const isWell = (check: string): boolean => diagnostics.every((one) => one.check !== check)
  const indexes = [...expected.keys()].filter((part) => checkOf(part) === 'index').length
  return [
    ...diagnostics,
    ...(isWell('drift') ? [well('drift', 'tables and columns are as the migrations make them')] : []),
    ...(isWell('index') ? [well('index', `all ${indexes} indexes are there`)] : []),
  ]
}

function checkOf(part: string): 'index' | 'drift' {
  return part.startsWith('index ') ? 'index' : 'drift'
}

/** Of a missing table, not every column and index too. */
function missingParts(expected: Parts, found: Parts): [string, string][] {
  return [...expected].filter(([part]) => {
    const table = tableOf(part)
    return !found.has(part) && (table === null || found.has(`table ${table}`))
  })
}

function otherParts(expected: Parts, found: Parts): [string, string][] {
  return [...expected].filter(([part, made]) => found.has(part) && found.get(part) !== made)
}

/** An index or a table of somebody else's does no harm to what is written here; a column may refuse every row. */
function foreignColumns(expected: Parts, found: Parts): string[] {
  return [...found.keys()].filter(
    (part) => part.startsWith('column ') && !expected.has(part) && expected.has(`table ${tableOf(part)}`),
  )
}

/** Of a column, an index or a trigger. */
export function tableOf(part: string): string | null {
  return /^(?:column|index|trigger) ([^.]+)\./.exec(part)?.[1] ?? null
}

/** The name without its kind and its table: `priority` of `column job.priority`. */
export function nameOf(part: string): string {
  return part.replace(/^\w+ (?:[^.(]+\.)?/, '')
}
