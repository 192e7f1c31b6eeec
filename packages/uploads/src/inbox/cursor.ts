/** Where a reader of a feed has got to, as a text that is of no use anywhere else. */
import { Refusal } from '../refusal.ts'

export function cursorOf(mailbox: string, seq: number): string {
  return Buffer.from(`1:${mailbox}:${seq}`).toString('base64url')
}

/** `last` is the number of the mailbox's last notice. */
export function seqOf(cursor: string, mailbox: string, last: number, field: string): number {
  const text = Buffer.from(cursor.slice(0, 200), 'base64url').toString()
  const [, of, seq] = /^1:([0-9a-f-]{36}):(\d{1,15})$/.exec(text) ?? []
  if (of === undefined || seq === undefined)
    throw new Refusal('CURSOR_INVALID', { field, fix: 'Give one that an answer had, or leave it out' })
  if (of !== mailbox || Number(seq) > last)
    throw new Refusal('CURSOR_GONE', {
      field,
      detail:
        'this mailbox has had nothing of that number: it is of another one, or the database is an older copy',
      fix: 'Leave it out to begin at the beginning: whatever is not acknowledged is listed again',
    })
  return Number(seq)
}
