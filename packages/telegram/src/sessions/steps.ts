/** The tables of the gateway: sessions and codes, started replies, and the webhooks at Telegram. */
import { sql, type Step } from 'jobmill-tables'

export interface Schema {
  telegram_session: { user_id: number; scope: string; begun_at: number; expires_at: number }
  telegram_code: {
    hash: string
    scope: string
    created_at: number
    expires_at: number
    /** Null: any user can use the code. */
    user_id: number | null
    used_at: number | null
    used_by: number | null
    /** The update that used the code, so that a redelivery of this update succeeds again. */
    used_key: string | null
  }
  /** Wrong codes by user; user 0 counts all users together. */
  telegram_wrong: { user_id: number; tries: number; since: number; locked_until: number }
  /** Updates whose wrong code was counted. A redelivery does not count again. */
  telegram_try: { key: string; at: number }
  /** Replies of at-most-once bots that an attempt began to send. */
  telegram_begun: {
    job_id: string
    at: number
    /** Identifies the attempt. */
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
    await sql`CREATE INDEX telegram_code_end ON ${table('telegram_code')} (expires_at)`.execute(db)
    await sql`CREATE TABLE ${table('telegram_wrong')} (
      user_id bigint PRIMARY KEY, tries integer NOT NULL, since bigint NOT NULL, locked_until bigint NOT NULL)`.execute(
      db,
    )
    await sql`CREATE INDEX telegram_wrong_since ON ${table('telegram_wrong')} (since)`.execute(db)
    await sql`CREATE TABLE ${table('telegram_try')} (key text PRIMARY KEY, at bigint NOT NULL)`.execute(db)
    await sql`CREATE INDEX telegram_try_at ON ${table('telegram_try')} (at)`.execute(db)
    await sql`CREATE TABLE ${table('telegram_begun')} (
      job_id text PRIMARY KEY, at bigint NOT NULL, token text NOT NULL)`.execute(db)
    await sql`CREATE INDEX telegram_begun_at ON ${table('telegram_begun')} (at)`.execute(db)
    await sql`CREATE TABLE ${table('telegram_webhook')} (
      bot_id bigint PRIMARY KEY, fingerprint text NOT NULL, set_at bigint NOT NULL)`.execute(db)
  },
]
