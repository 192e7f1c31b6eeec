/** Authenticates the bearer of a token, which belongs to one mailbox. */
import type { Holder, Tokens } from '../inbox/tokens.ts'
import { Refusal } from '../refusal.ts'
import type { May } from '../tables/schema.ts'
import { idIn } from './parameters.ts'

/** Empty if there is none. */
export function tokenOf(request: Request): string {
  return /^Bearer +([\x21-\x7e]+) *$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? ''
}

/** The holder of the token, for the mailbox in the path. */
export async function whoAsks(
  request: Request,
  mailbox: string,
  tokens: Tokens,
  onForeign?: (from: string, target: string) => void,
): Promise<Holder> {
  const token = tokenOf(request)
  const holder = token === '' ? null : await tokens.holderOf(token)
  if (holder === null) throw wrongToken()
  const id = idIn(mailbox, 'mailbox', 'Copy the id from the output of: jobmill-uploads mailboxes list')
  // The same response for a mailbox that does not exist, so that ids cannot be probed.
  if (id !== holder.mailbox) {
    onForeign?.(holder.mailbox, id)
    throw wrongToken()
  }
  return holder
}

export function mustBeAllowed({ may }: Holder, to: Exclude<May, 'both'>): void {
  if (may === 'both' || may === to) return
  throw new Refusal('FORBIDDEN', {
    detail: `this token allows ${may}, not ${to}`,
    fix: `Use a token with the permission "${to}" or "both"`,
  })
}

function wrongToken(): Refusal {
  return new Refusal('TOKEN_WRONG', {
    fix: 'Send the header "Authorization: Bearer TOKEN" with a token of this mailbox',
  })
}
