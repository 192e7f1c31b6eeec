/** A mailbox in the table. */
import type { Mailbox } from '../../api/upload-types.ts'
import { TextLink } from '../../kit/button.tsx'
import { bytes, number, shortId } from '../../kit/text/format.ts'
import { Cell, Row } from '../../kit/table/table.tsx'
import { Ago } from '../../kit/text/time.tsx'
import { at } from './at.ts'
import { Quota } from './quota.tsx'

/** Hidden on narrow screens; the mailbox page shows it. */
const WIDE = 'hidden @2xl:table-cell'

export const MAILBOX_COLUMNS = [
  { key: 'name', name: 'Mailbox' },
  { key: 'pending', name: 'Pending', right: true },
  { key: 'oldest', name: 'Oldest upload', className: WIDE },
  { key: 'quota', name: 'Quota used', className: WIDE },
  { key: 'last', name: 'Last upload', className: WIDE },
  { key: 'unfetched', name: 'Unfetched', right: true },
]

export function MailboxRow({ mailbox }: { readonly mailbox: Mailbox }) {
  const { id, name, pending, expiredUnfetched } = mailbox
  return (
    <Row>
      <Cell className="max-w-48 min-w-24">
        <TextLink to={`/apps/uploads/${id}`} className="block truncate font-medium">
          <span title={name}>{name}</span>
        </TextLink>
        <span className="font-mono text-xs text-soft" title={id}>
          {shortId(id)}
        </span>
      </Cell>
      <Cell right>
        {number(pending.files)}
        <span className="block text-xs text-soft">{bytes(pending.bytes)}</span>
      </Cell>
      <Cell className={WIDE}>
        <Ago at={at(pending.oldestAt)} />
      </Cell>
      <Cell className={WIDE}>
        <Quota mailbox={mailbox} of="bytes" />
      </Cell>
      <Cell className={WIDE}>
        <Ago at={at(mailbox.lastUploadAt)} otherwise="Never" />
      </Cell>
      <Cell right>
        <span
          title="Files that expired before they were fetched"
          className={expiredUnfetched.files > 0 ? 'font-medium text-dead' : 'text-soft'}
        >
          {number(expiredUnfetched.files)}
        </span>
      </Cell>
    </Row>
  )
}
