/** Prepared statements by their text: to prepare one takes longer than most of them take to run. The least used go first. */
import type Sqlite from 'better-sqlite3'

/** More than an application has; texts with values in them would otherwise grow without end. */
const MOST = 200
/** Runs once, and changes what others were prepared for. */
const ONCE = /^\s*(?:create|alter|drop|pragma)\b/i

export function statementsOf(handle: Sqlite.Database): (text: string) => Sqlite.Statement {
  const kept = new Map<string, Sqlite.Statement>()
  return (text) => {
    const statement = kept.get(text) ?? handle.prepare(text)
    if (ONCE.test(text)) return statement
    // The last used stands last.
    kept.delete(text)
    kept.set(text, statement)
    const [oldest] = kept.keys()
    if (kept.size > MOST && oldest !== undefined) kept.delete(oldest)
    return statement
  }
}
