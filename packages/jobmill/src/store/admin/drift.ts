/** Finds where a database differs from its migrations, after manual changes or an incomplete restore. */
import { broken, type Diagnostic, warning, ok } from './admin.ts'

/**
 * Schema objects by name, with their definitions: `table job`, `column job.priority`, `index job.job_pkey`,
 * `trigger …`, `function …`, `sequence …`. A store lists only objects that it can restore.
 */
export type Parts = ReadonlyMap<string, string>

/** Instructions for restoring an object. */
export interface SchemaFixes {
  readonly missing: (part: string, made: string) => string
  /** `found` is its current definition. */
  readonly other: (part: string, made: string, found: string) => string
  /** Describes a column that no migration created. */
  readonly foreign: (part: string) => string
}

export function driftDiagnostics(expected: Parts, found: Parts, fixes: SchemaFixes): Diagnostic[] {
  const diagnostics = [
    ...missingParts(expected, found).map(([part, made]) =>
      broken(checkOf(part), `the ${part} is missing`, fixes.missing(part, made)),
    ),
    ...otherParts(expected, found).map(([part, made]) =>
      broken(
        checkOf(part),
        `the ${part} differs from its migration`,
        fixes.other(part, made, found.get(part) ?? ''),
      ),
    ),
    ...foreignColumns(expected, found).map((part) =>
      warning(checkOf(part), `the ${part} does not belong to Jobmill`, fixes.foreign(part)),
    ),
  ]
  const hasPassed = (check: string): boolean => diagnostics.every((one) => one.check !== check)
  const indexes = [...expected.keys()].filter((part) => checkOf(part) === 'index').length
  return [
    ...diagnostics,
    ...(hasPassed('drift') ? [ok('drift', 'tables and columns match the migrations')] : []),
    ...(hasPassed('index') ? [ok('index', `all ${indexes} indexes exist`)] : []),
  ]
}

function checkOf(part: string): 'index' | 'drift' {
  return part.startsWith('index ') ? 'index' : 'drift'
}

/** Missing parts. The columns and indexes of a missing table are not listed separately. */
function missingParts(expected: Parts, found: Parts): [string, string][] {
  return [...expected].filter(([part]) => {
    const table = tableOf(part)
    return !found.has(part) && (table === null || found.has(`table ${table}`))
  })
}

function otherParts(expected: Parts, found: Parts): [string, string][] {
  return [...expected].filter(([part, made]) => found.has(part) && found.get(part) !== made)
}

/** Foreign indexes and tables do not affect our writes, but a foreign column can reject every row. */
function foreignColumns(expected: Parts, found: Parts): string[] {
  return [...found.keys()].filter(
    (part) => part.startsWith('column ') && !expected.has(part) && expected.has(`table ${tableOf(part)}`),
  )
}

/** The table of a column, index or trigger. */
export function tableOf(part: string): string | null {
  return /^(?:column|index|trigger) ([^.]+)\./.exec(part)?.[1] ?? null
}

/** The name without its type and table: `priority` for `column job.priority`. */
export function nameOf(part: string): string {
  return part.replace(/^\w+ (?:[^.(]+\.)?/, '')
}
