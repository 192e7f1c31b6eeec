/** A mailbox in the table. */
import type { Mailbox } from '../../api/types/uploads.ts'
import { TextLink } from '../../kit/button.tsx'
import { bytes, number, shortId } from '../../kit/format.ts'
import { Cell, Row } from '../../kit/table.tsx'
import { Ago } from '../../kit/time.tsx'
import { at } from './at.ts'
import { Quota } from './quota.tsx'

export const MAILBOX_COLUMNS = [
  { key: 'name', name: 'Mailbox' },
  { key: 'pending', name: 'Pending', right: true },
  { key: 'bytes', name: 'Bytes', right: true },
  { key: 'oldest', name: 'Oldest came' },
  { key: 'quota', name: 'Quota used' },
  { key: 'last', name: 'Last upload' },
  { key: 'unfetched', name: 'Expired unfetched', right: true },
]

export function MailboxRow({ mailbox }: { readonly mailbox: Mailbox }) {
  const { id, name, pending, expiredUnfetched } = mailbox
  return (
    <Row>
      <Cell className="max-w-72 min-w-44">
        <TextLink to={`/apps/uploads/${id}`} className="block truncate font-medium">
          <span title={name}>{name}</span>
        </TextLink>
        <span className="font-mono text-xs text-soft" title={id}>
          {shortId(id)}
        </span>
      </Cell>
      <Cell right>{number(pending.files)}</Cell>
      <Cell right>{bytes(pending.bytes)}</Cell>
      <Cell>
        <Ago at={at(pending.oldestAt)} />
      </Cell>
      <Cell>
        <Quota mailbox={mailbox} of="bytes" />
      </Cell>
      <Cell>
        <Ago at={at(mailbox.lastUploadAt)} otherwise="Never" />
      </Cell>
      <Cell right>
        <span className={expiredUnfetched.files > 0 ? 'font-medium text-dead' : 'text-soft'}>
          {number(expiredUnfetched.files)}
        </span>
      </Cell>
    </Row>
  )
}
