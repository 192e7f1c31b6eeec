/** Uploads page: all mailboxes, and those with files that expired unfetched. */
import { useMailboxes } from '../../api/reads.ts'
import { Card, PageHead } from '../../kit/card.tsx'
import { TextInput } from '../../kit/forms/field.tsx'
import { Pager, usePaging } from '../../kit/table/pages.tsx'
import { useSearchValue } from '../../kit/search.ts'
import { Empty, DataView } from '../../kit/data-view.tsx'
import { Table } from '../../kit/table/table.tsx'
import { MAILBOX_COLUMNS, MailboxRow } from './mailbox-row.tsx'
import { Unfetched } from './unfetched.tsx'

const PER_PAGE = 50

export function MailboxesPage() {
  const [find, setFind] = useSearchValue('find')
  const paging = usePaging(find ?? '')
  const read = useMailboxes({ find: find ?? undefined, limit: PER_PAGE, after: paging.cursor })
  return (
    <>
      <PageHead title="Uploads" note="Mailboxes and their pending files">
        <TextInput
          type="search"
          aria-label="Search mailboxes"
          placeholder="Name or id"
          maxLength={200}
          value={find ?? ''}
          onChange={(event) => setFind(event.target.value)}
        />
      </PageHead>
      <Unfetched of={read.data?.expiredUnfetched ?? []} />
      <Card flush>
        <DataView read={read} shape="table">
          {({ mailboxes, next }) =>
            mailboxes.length > 0 ? (
              <>
                <Table label="Mailboxes" columns={MAILBOX_COLUMNS}>
                  {mailboxes.map((mailbox) => (
                    <MailboxRow key={mailbox.id} mailbox={mailbox} />
                  ))}
                </Table>
                <Pager paging={paging} next={next} words={['Previous', 'Next']} />
              </>
            ) : find === null ? (
              <Empty title="No mailboxes">
                Create one, with its first token:{' '}
                <code className="font-mono">jobmill-uploads mailboxes add NAME</code>.
              </Empty>
            ) : (
              <Empty title="No matching mailboxes">Search for part of a name, or for a full id.</Empty>
            )
          }
        </DataView>
      </Card>
    </>
  )
}
