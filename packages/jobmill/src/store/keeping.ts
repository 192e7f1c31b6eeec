/** What an operator asks of a database itself: is it there, is it ours, is it well. Works while the store is closed, on a connection of its own. */

export interface Keeping {
  /** Which migrations the database has. Reads only; also of one that is not there, empty, older or newer. */
  schema(): Promise<SchemaStatus>
  /** Makes the database, and the namespace in it, where there is none; false when there was nothing to make. The tables come with `open`. */
  create(): Promise<boolean>
  /** Takes away everything that jobmill has made in the database, and nothing else. All of it or nothing. */
  drop(): Promise<Dropped>
  /** Looks for what is wrong or slow with the database, and says what to do about it. Changes nothing. */
  examine(how?: ExamineOptions): Promise<Finding[]>
}

export interface SchemaStatus {
  /** False when there is no database, or no table of ours in it. */
  readonly isThere: boolean
  readonly applied: readonly { readonly number: number; readonly name: string }[]
  readonly pending: readonly { readonly number: number; readonly name: string }[]
  /** Why this release cannot work with it; null when it can, once what is pending was applied. */
  readonly refused: string | null
}

export interface Dropped {
  /** The instances that live, by label or id. Nothing was taken away while there is one. */
  readonly living: readonly string[]
}

export interface ExamineOptions {
  /** How long a transaction may be open before it is told (default 5 min). */
  readonly openForMs?: number
}

/** One thing that was looked at. */
export interface Finding {
  /** Which check: `schema`, `index`, `durability`, `horizon`, … */
  readonly check: string
  readonly level: 'ok' | 'warning' | 'error'
  readonly says: string
  /** What to do; null when all is well. */
  readonly fix: string | null
}

/** All is well. */
export function well(check: string, says: string): Finding {
  return { check, level: 'ok', says, fix: null }
}

/** It works, and will be slow, or costs something. */
export function warning(check: string, says: string, fix: string): Finding {
  return { check, level: 'warning', says, fix }
}

/** It does not work, or a promise is not kept. */
export function broken(check: string, says: string, fix: string): Finding {
  return { check, level: 'error', says, fix }
}
