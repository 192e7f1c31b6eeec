/** The position of a feed reader, as an opaque string. */
import { Refusal } from '../../refusal.ts'

export function cursorOf(mailbox: string, seq: number): string {
  return Buffer.from(`1:${mailbox}:${seq}`).toString('base64url')
}

/** `last` is the sequence number of the mailbox's last notice. */
export function seqOf(cursor: string, mailbox: string, last: number, field: string): number {
  const text = Buffer.from(cursor.slice(0, 200), 'base64url').toString()
  const [, of, seq] = /^1:([0-9a-f-]{36}):(\d{1,15})$/.exec(text) ?? []
  if (of === undefined || seq === undefined)
    throw new Refusal('CURSOR_INVALID', { field, fix: 'Pass a cursor from a response, or omit it' })
  if (of !== mailbox || Number(seq) > last)
    throw new Refusal('CURSOR_GONE', {
      field,
      detail: 'the cursor belongs to another mailbox, or the database was restored from a backup',
      fix: 'Omit it to list all unacknowledged files from the beginning',
    })
  return Number(seq)
}
