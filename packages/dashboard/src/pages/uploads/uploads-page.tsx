/** The upload inbox: all mailboxes, or one. */
import { MailboxPage } from './mailbox-page.tsx'
import { MailboxesPage } from './mailboxes-page.tsx'

export function UploadsPage({ item }: { readonly item?: string }) {
  return item === undefined ? <MailboxesPage /> : <MailboxPage id={item} />
}
