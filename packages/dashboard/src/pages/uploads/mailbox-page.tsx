/** Mailbox page: its usage and its files. */
import { useMailbox } from '../../api/reads.ts'
import { LinkButton } from '../../kit/button.tsx'
import { Card, Fact, Facts, PageHead } from '../../kit/card.tsx'
import { bytes, plural } from '../../kit/text/format.ts'
import { Empty, Failed } from '../../kit/data-view.tsx'
import { Skeleton } from '../../kit/skeleton.tsx'
import { Ago } from '../../kit/text/time.tsx'
import { at } from './at.ts'
import { FileList } from './file-list.tsx'
import { Quota } from './quota.tsx'
import { Unfetched } from './unfetched.tsx'

export function MailboxPage({ id }: { readonly id: string }) {
  const { data, error, refetch } = useMailbox(id)
  const mailbox = data?.mailbox
  const isUnknown = error !== null && (error.status === 404 || error.code === 'ID_INVALID')
  const all = <LinkButton to="/apps/uploads">All mailboxes</LinkButton>
  if (isUnknown || mailbox === undefined)
    return (
      <>
        <PageHead title={<span className="break-all">{id}</span>} />
        <Card>
          {isUnknown ? (
            <Empty title="Mailbox not found">
              <p className="mb-3">It may have been removed. Its files are deleted by the next sweep.</p>
              {all}
            </Empty>
          ) : error === null ? (
            <Skeleton shape="facts" />
          ) : (
            <Failed problem={error} again={() => void refetch()} />
          )}
        </Card>
      </>
    )
  const { name, pending, expiredUnfetched } = mailbox
  return (
    <>
      <PageHead
        title={<span className="break-words">{name}</span>}
        note={<span className="font-mono text-xs break-all">{id}</span>}
      >
        {all}
      </PageHead>
      <Unfetched of={data?.expiredUnfetched ?? []} />
      <Card className="mb-4">
        <div className="grid gap-x-8 gap-y-1.5 max-lg:[&_dl]:grid-cols-[9rem_1fr] lg:grid-cols-2">
          <Facts>
            <Fact name="Pending">
              {plural(pending.files, 'file')}, {bytes(pending.bytes)}
            </Fact>
            <Fact name="Oldest upload">
              <Ago at={at(pending.oldestAt)} />
            </Fact>
            <Fact name="Last upload">
              <Ago at={at(mailbox.lastUploadAt)} otherwise="Never" />
            </Fact>
          </Facts>
          <Facts>
            <Fact name="Quota, bytes">
              <Quota mailbox={mailbox} of="bytes" />
            </Fact>
            <Fact name="Quota, files">
              <Quota mailbox={mailbox} of="files" />
            </Fact>
            <Fact name="Expired unfetched">{plural(expiredUnfetched.files, 'file')}</Fact>
          </Facts>
        </div>
      </Card>
      <FileList mailbox={mailbox} />
    </>
  )
}
