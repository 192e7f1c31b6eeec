/** The audit log of manual changes. */
import { useState } from 'react'
import { useAudit, useOverview } from '../../api/reads.ts'
import type { AuditEntry } from '../../api/types.ts'
import { Card } from '../../kit/card.tsx'
import { Field, Select, TextInput } from '../../kit/forms/field.tsx'
import { useSearchValue } from '../../kit/search.ts'
import { Empty, DataView } from '../../kit/data-view.tsx'
import { Table } from '../../kit/table/table.tsx'
import { AUDIT_COLUMNS, AuditRow } from './audit-row.tsx'
import { Pager, usePaging } from '../../kit/table/pages.tsx'

const PER_PAGE = 100

export function AuditLog() {
  const [queue, setQueue] = useSearchValue('queue')
  const [who, setWho] = useSearchValue('who')
  const [what, setWhat] = useSearchValue('what')
  const queues = useOverview().data?.queues ?? []
  const paging = usePaging(queue ?? '')
  const read = useAudit({ queue: queue ?? undefined, limit: PER_PAGE, cursor: paging.cursor })
  const hint = (read.data?.next ?? null) === null ? undefined : 'Filters this page only.'
  return (
    <Card flush>
      <div className="grid gap-3 px-4 pt-4 pb-1 sm:grid-cols-3 lg:max-w-3xl">
        <Field label="User" hint={hint}>
          {(ids) => <TextInput {...ids} value={who ?? ''} onChange={(event) => setWho(event.target.value)} />}
        </Field>
        <Field label="Action" hint={hint}>
          {(ids) => (
            <TextInput
              {...ids}
              placeholder="queues.pause"
              value={what ?? ''}
              onChange={(event) => setWhat(event.target.value)}
            />
          )}
        </Field>
        <Field label="Queue">
          {(ids) => (
            <Select {...ids} value={queue ?? ''} onChange={(event) => setQueue(event.target.value)}>
              <option value="">any</option>
              {queues.map(({ settings: { name } }) => (
                <option key={name}>{name}</option>
              ))}
            </Select>
          )}
        </Field>
      </div>
      <DataView read={read} shape="table">
        {({ entries, next }) => (
          <>
            <Entries entries={entries.filter((entry) => isMeant(entry, who, what))} of={entries.length} />
            <Pager paging={paging} next={next} />
          </>
        )}
      </DataView>
    </Card>
  )
}

const has = (text: string, part: string | null): boolean =>
  part === null || text.toLowerCase().includes(part.trim().toLowerCase())

const isMeant = ({ who, what, target }: AuditEntry, by: string | null, did: string | null): boolean =>
  has(who, by) && (has(what, did) || has(target, did))

function Entries({ entries, of }: { readonly entries: readonly AuditEntry[]; readonly of: number }) {
  const [open, setOpen] = useState<string | null>(null)
  if (of === 0)
    return (
      <Empty title="No manual changes">Changes from the dashboard and the HTTP API are recorded here.</Empty>
    )
  if (entries.length === 0)
    return (
      <Empty title={`None of the ${of} on this page match`}>
        Clear the user or action filter, or go to older entries.
      </Empty>
    )
  return (
    <Table label="Audit log" columns={AUDIT_COLUMNS}>
      {entries.map((entry) => {
        const key = `${entry.at} ${entry.what} ${entry.target}`
        return (
          <AuditRow
            key={key}
            entry={entry}
            isOpen={open === key}
            turn={() => setOpen(open === key ? null : key)}
          />
        )
      })}
    </Table>
  )
}
