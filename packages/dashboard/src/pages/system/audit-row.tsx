/** One audit entry, with the values before and after. */
import { encodeName } from '../../api/client.ts'
import type { AuditEntry } from '../../api/types.ts'
import { TextLink } from '../../kit/button.tsx'
import { shortId } from '../../kit/text/format.ts'
import { Json } from '../../kit/json/json.tsx'
import { OpenedRow, Opener } from '../../kit/table/opener.tsx'
import { Cell, Row } from '../../kit/table/table.tsx'
import { Ago } from '../../kit/text/time.tsx'

export const AUDIT_COLUMNS = [
  { key: 'what', name: 'Action' },
  { key: 'target', name: 'Target' },
  { key: 'who', name: 'User' },
  { key: 'queue', name: 'Queue' },
  { key: 'at', name: 'When' },
]

interface Props {
  readonly entry: AuditEntry
  readonly isOpen: boolean
  readonly turn: () => void
}

export function AuditRow({ entry, isOpen, turn }: Props) {
  const { at, who, role, what, target, queue, job, before, after } = entry
  return (
    <>
      <Row>
        <Cell>
          <Opener isOpen={isOpen} turn={turn}>
            {what}
          </Opener>
        </Cell>
        <Cell>
          <span className="block max-w-64 truncate" title={target}>
            {job === null ? target : <TextLink to={`/jobs/${encodeName(job)}`}>{shortId(job)}</TextLink>}
          </span>
        </Cell>
        <Cell className="whitespace-nowrap">
          {who} <span className="text-xs text-soft">{role}</span>
        </Cell>
        <Cell>
          {queue === null ? (
            <span className="text-soft">–</span>
          ) : (
            <span className="block max-w-48 truncate" title={queue}>
              <TextLink to={`/queues#${encodeName(queue)}`}>{queue}</TextLink>
            </span>
          )}
        </Cell>
        <Cell>
          <Ago at={at} />
        </Cell>
      </Row>
      {isOpen && (
        <OpenedRow columns={AUDIT_COLUMNS.length} title={`${what} ${target}`}>
          <div className="grid gap-4 lg:grid-cols-2">
            <Side name="Before" value={before} />
            <Side name="After" value={after} />
          </div>
        </OpenedRow>
      )}
    </>
  )
}

function Side({ name, value }: { readonly name: string; readonly value: unknown }) {
  return (
    <div className="min-w-0">
      <h3 className="mb-1 text-xs font-semibold">{name}</h3>
      {(value ?? null) === null ? (
        <p className="text-soft">Not recorded.</p>
      ) : (
        <Json value={value} name={name.toLowerCase()} />
      )}
    </div>
  )
}
