/** The files of a mailbox in one state, newest first. */
import { useMailboxFiles } from '../../api/reads.ts'
import { FILE_STATES, type FileState, type Mailbox } from '../../api/upload-types.ts'
import { Card } from '../../kit/card.tsx'
import { CopyButton } from '../../kit/text/copy.tsx'
import { bytes, number } from '../../kit/text/format.ts'
import { Pager, usePaging } from '../../kit/table/pages.tsx'
import { useSearchValue } from '../../kit/search.ts'
import { Segmented } from '../../kit/forms/segmented.tsx'
import { Empty, DataView } from '../../kit/data-view.tsx'
import { Cell, Row, Table } from '../../kit/table/table.tsx'
import { Ago } from '../../kit/text/time.tsx'
import { at } from './at.ts'

const PER_PAGE = 50

const NONE: Readonly<Record<FileState, readonly [title: string, says: string]>> = {
  pending: ['No pending files', 'Every uploaded file was acknowledged or has expired.'],
  acked: ['No acknowledged files', 'They stay readable until a sweep removes them.'],
  expired: ['No expired files', 'Expired files are removed by the next sweep, within minutes.'],
}

/** The name of the last column. */
const ENDS: Readonly<Record<FileState, string>> = {
  pending: 'Expires',
  acked: 'Acknowledged',
  expired: 'Expired',
}

export function FileList({ mailbox }: { readonly mailbox: Mailbox }) {
  const { id, pending, acked, expired } = mailbox
  const [given, setGiven] = useSearchValue('state')
  const state = FILE_STATES.find((one) => one === given) ?? 'pending'
  const paging = usePaging(state)
  const read = useMailboxFiles(id, { state, limit: PER_PAGE, after: paging.cursor })
  const counts = { pending: pending.files, acked, expired }
  const words = FILE_STATES.map((one) => `${one} ${number(counts[one])}`)
  const [title, says] = NONE[state]
  return (
    <Card
      flush
      title="Files"
      tools={
        <Segmented
          label="State"
          choices={words}
          chosen={words[FILE_STATES.indexOf(state)] ?? null}
          choose={(word) => setGiven(FILE_STATES[words.indexOf(word)] ?? null)}
        />
      }
    >
      <DataView read={read} shape="table">
        {({ files, next }) =>
          files.length === 0 && paging.number === 1 ? (
            <Empty title={title}>{says}</Empty>
          ) : (
            <>
              <Table
                label={`Files, ${state}`}
                columns={[
                  { key: 'name', name: 'File' },
                  { key: 'type', name: 'Type' },
                  { key: 'size', name: 'Size', right: true },
                  { key: 'came', name: 'Uploaded' },
                  { key: 'fetched', name: 'Fetched', right: true },
                  { key: 'ends', name: ENDS[state] },
                ]}
              >
                {files.map(({ id: file, name, mimeType, size, createdAt, fetches, ...one }) => (
                  <Row key={file}>
                    <Cell className="max-w-96 min-w-44">
                      <span className="flex items-center gap-1">
                        <span className="truncate" title={name}>
                          {name}
                        </span>
                        <CopyButton text={file} what={`the id of ${name}`} />
                      </span>
                      <span className="block truncate font-mono text-xs text-soft">{file}</span>
                    </Cell>
                    <Cell className="max-w-56 truncate">
                      <span title={mimeType}>{mimeType === '' ? 'unknown' : mimeType}</span>
                    </Cell>
                    <Cell right>{bytes(size)}</Cell>
                    <Cell>
                      <Ago at={at(createdAt)} />
                    </Cell>
                    <Cell right>
                      {fetches === 0 ? (
                        <span className="text-soft">never</span>
                      ) : (
                        <>
                          {number(fetches)}×, <Ago at={at(one.lastFetchedAt)} />
                        </>
                      )}
                    </Cell>
                    <Cell>
                      <Ago at={at(state === 'acked' ? one.ackedAt : one.expiresAt)} />
                    </Cell>
                  </Row>
                ))}
              </Table>
              <Pager paging={paging} next={next} words={['Previous', 'Next']} />
            </>
          )
        }
      </DataView>
    </Card>
  )
}
