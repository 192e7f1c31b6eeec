/** Who asks: the bearer of a token, which belongs to one mailbox. Nothing else is looked at before that. */
import { cleanId } from '../clean/ids.ts'
import type { Holder, Tokens } from '../inbox/tokens.ts'
import { Refusal } from '../refusal.ts'
import type { May } from '../tables/schema.ts'

/** Empty where there is none. */
export function tokenOf(request: Request): string {
  return /^Bearer +([\x21-\x7e]+) *$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? ''
}

/** The holder, of the mailbox that the address names. */
export async function whoAsks(
  request: Request,
  mailbox: string,
  { holderOf }: Tokens,
  onForeign?: (from: string, target: string) => void,
): Promise<Holder> {
  const token = tokenOf(request)
  const holder = token === '' ? null : await holderOf(token)
  if (holder === null) throw stranger()
  const id = cleanId(mailbox)
  if (id === null)
    throw new Refusal('ID_INVALID', {
      field: 'mailbox',
      detail: 'the id of a mailbox is a UUID',
      fix: 'Copy it from: jobmill-uploads mailboxes list',
    })
  // Also where there is no such mailbox: no difference is told.
  if (id !== holder.mailbox) {
    onForeign?.(holder.mailbox, id)
    throw stranger()
  }
  return holder
}

export function mustBeAllowed({ may }: Holder, to: Exclude<May, 'both'>): void {
  if (may === 'both' || may === to) return
  throw new Refusal('FORBIDDEN', {
    detail: `this token may ${may}, and not ${to}`,
    fix: `Use one that may ${to} or both`,
  })
}

function stranger(): Refusal {
  return new Refusal('TOKEN_WRONG', { fix: 'Send Authorization: Bearer with a token of this mailbox' })
}
