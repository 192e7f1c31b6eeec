/** Writes an audit entry for every change, after the change and before the response. */
import type { MiddlewareHandler } from 'hono'
import type { Mill } from 'jobmill'
import { isRead } from './access/reads.ts'
import type { Env } from './env.ts'
import { HIDDEN } from './redact/redact-keys.ts'

/** `failed`: called when the change was made but its audit entry was not written, or lacks its values. */
export function auditChanges(
  { audit }: Pick<Mill, 'audit'>,
  redacted: <T>(value: T) => T,
  failed: (error: unknown, row: object) => void,
): MiddlewareHandler<Env> {
  return async (c, next) => {
    await next()
    const who = c.get('who')
    if (isRead(c.req.method) || !c.res.ok || who === null) return
    const note = c.get('note')
    // A programming error: every route that changes something must call note(). Its first test fails here.
    if (note === undefined) throw new Error(`${c.req.method} ${c.req.path} did not record what it changed`)
    const { before = null, after = null, ...rest } = note
    const row = { who: who.name, role: who.role, what: c.get('what'), ...rest }
    const hide = (value: unknown): unknown => {
      try {
        return redacted(value)
      } catch (error) {
        // The change was made, so its entry is written, without the value.
        failed(error, row)
        return HIDDEN
      }
    }
    const whole = { ...row, before: hide(before), after: hide(after) }
    await audit.write(whole).catch((error: unknown) => failed(error, whole))
  }
}
