/** The tables of the gateway. Beside the jobs it keeps who is logged in, and what was done while Telegram waited. */
import { sql, type Step } from 'jobmill-tables'

export interface Schema {
  telegram_session: { user_id: number; scope: string; begun_at: number; expires_at: number }
  telegram_code: {
    hash: string
    scope: string
    created_at: number
    expires_at: number
    /** Null: for whoever types it first. */
    user_id: number | null
    used_at: number | null
    used_by: number | null
    /** The update that used it, so that a repeat of that update is let in once more. */
    used_key: string | null
  }
  /** By user; 0 is everybody together. */
  telegram_wrong: { user_id: number; tries: number; since: number; locked_until: number }
  /** Updates whose wrong code was counted: brought again, they are no second try. */
  telegram_try: { key: string; at: number }
  /** Updates of synchronous bots. */
  telegram_update: {
    bot_id: number
    update_id: number
    state: 'running' | 'handled' | 'failed'
    attempts: number
    /** Tries whose process died: counted apart from those that failed. */
    crashes: number
    /** Another one at each claim: what an earlier one writes changes nothing. */
    token: number
    /** Of a running one: when whoever runs it counts as dead. Of a handled one: until when repeats of it are recognised. */
    until: number
  }
  /** Replies of at-most-once bots that were begun and not ended. */
  telegram_begun: {
    job_id: string
    at: number
    /** Of the attempt that began it: another one has another. Empty for one of a release that had none. */
    token: string
  }
  telegram_webhook: { bot_id: number; fingerprint: string; set_at: number }
}

export const STEPS: readonly Step[] = [
  async (db, { table }) => {
    await sql`CREATE TABLE ${table('telegram_session')} (
      user_id bigint NOT NULL, scope text NOT NULL, begun_at bigint NOT NULL, expires_at bigint NOT NULL,
      PRIMARY KEY (user_id, scope))`.execute(db)
    await sql`CREATE INDEX telegram_session_end ON ${table('telegram_session')} (expires_at)`.execute(db)
    await sql`CREATE TABLE ${table('telegram_code')} (
      hash text PRIMARY KEY, scope text NOT NULL, created_at bigint NOT NULL, expires_at bigint NOT NULL, user_id bigint,
      used_at bigint, used_by bigint, used_key text)`.execute(db)
    await sql`CREATE TABLE ${table('telegram_wrong')} (
      user_id bigint PRIMARY KEY, tries integer NOT NULL, since bigint NOT NULL, locked_until bigint NOT NULL)`.execute(
      db,
    )
    await sql`CREATE TABLE ${table('telegram_update')} (
      bot_id bigint NOT NULL, update_id bigint NOT NULL, state text NOT NULL, attempts integer NOT NULL, until bigint NOT NULL,
      PRIMARY KEY (bot_id, update_id))`.execute(db)
    await sql`CREATE INDEX telegram_update_end ON ${table('telegram_update')} (until)`.execute(db)
    await sql`CREATE TABLE ${table('telegram_begun')} (
      job_id text PRIMARY KEY, at bigint NOT NULL)`.execute(db)
    await sql`CREATE INDEX telegram_begun_at ON ${table('telegram_begun')} (at)`.execute(db)
    await sql`CREATE TABLE ${table('telegram_webhook')} (
      bot_id bigint PRIMARY KEY, fingerprint text NOT NULL, set_at bigint NOT NULL)`.execute(db)
  },
  async (db, { table }) => {
    for (const column of ['crashes', 'token'])
      await sql`ALTER TABLE ${table('telegram_update')} ADD COLUMN ${sql.id(column)} bigint NOT NULL DEFAULT 0`.execute(
        db,
      )
    await sql`CREATE TABLE ${table('telegram_try')} (key text PRIMARY KEY, at bigint NOT NULL)`.execute(db)
    await sql`CREATE INDEX telegram_try_at ON ${table('telegram_try')} (at)`.execute(db)
  },
  async (db, { table }) => {
    // Used by earlier releases only: the mill itself follows the config now.
    await sql`CREATE TABLE ${table('telegram_setting')} (queue text PRIMARY KEY, said text NOT NULL)`.execute(
      db,
    )
  },
  async (db, { table }) => {
    await sql`ALTER TABLE ${table('telegram_begun')} ADD COLUMN token text NOT NULL DEFAULT ''`.execute(db)
    await sql`CREATE INDEX telegram_code_end ON ${table('telegram_code')} (expires_at)`.execute(db)
    await sql`CREATE INDEX telegram_wrong_since ON ${table('telegram_wrong')} (since)`.execute(db)
  },
]
