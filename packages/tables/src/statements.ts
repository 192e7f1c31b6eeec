/**
 * Caches prepared statements by text, because preparing takes longer than running most of them. Evicts the
 * least recently used.
 */
import type Sqlite from 'better-sqlite3'

/** More statements than an application has. The limit bounds memory if a statement text contains values. */
const MOST = 200
/** Statements that are not worth caching, because each of them runs once. */
const ONCE = /^\s*(?:create|alter|drop|pragma)\b/i

export function statementsOf(handle: Sqlite.Database): (text: string) => Sqlite.Statement {
  const kept = new Map<string, Sqlite.Statement>()
  return (text) => {
    const statement = kept.get(text) ?? handle.prepare(text)
    if (ONCE.test(text)) return statement
    // Map order is insertion order: move the statement to the end as the most recently used.
    kept.delete(text)
    kept.set(text, statement)
    const [oldest] = kept.keys()
    if (kept.size > MOST && oldest !== undefined) kept.delete(oldest)
    return statement
  }
}
