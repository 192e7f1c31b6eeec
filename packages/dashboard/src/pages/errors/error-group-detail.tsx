/** Details of an error group: its latest error, its versions and its jobs. */
import type { Range } from '../../api/range.ts'
import type { ErrorGroup } from '../../api/types.ts'
import { LinkButton, TextLink } from '../../kit/button.tsx'
import { CopyButton } from '../../kit/text/copy.tsx'
import { shortId } from '../../kit/text/format.ts'
import { jobsAddress } from './jobs-address.ts'
import { ErrorVersions } from './error-versions.tsx'

interface Props {
  readonly group: ErrorGroup
  /** The range that the page shows; null for all time. */
  readonly range: Range | null
}

export function ErrorGroupDetail({ group, range }: Props) {
  const { dead, failing, example } = group
  return (
    <div className="flex flex-col gap-3 px-4 pb-4 lg:pl-10">
      <div>
        <p className="mb-1 text-xs text-soft">
          Latest: job{' '}
          <TextLink to={`/jobs/${example.id}`} className="font-mono">
            {shortId(example.id)}
          </TextLink>
        </p>
        <ErrorText error={example.error} />
      </div>
      <ErrorVersions group={group} range={range} />
      <div className="flex flex-wrap items-center gap-2">
        {dead > 0 && (
          <LinkButton to={jobsAddress(group, { state: 'dead', range })}>View dead jobs</LinkButton>
        )}
        {failing > 0 && <LinkButton to={jobsAddress(group, { range })}>View all jobs</LinkButton>}
        <LinkButton to={`/jobs/${example.id}`} look="quiet">
          Open latest job
        </LinkButton>
      </div>
    </div>
  )
}

/** The first line; causes and stack on demand. */
function ErrorText({ error }: { readonly error: string }) {
  const end = error.indexOf('\n')
  const first = end === -1 ? error : error.slice(0, end)
  const rest = end === -1 ? '' : error.slice(end + 1)
  return (
    <div className="flex items-start gap-2 rounded-lg border border-line bg-card py-1 pr-1 pl-3 font-mono text-xs leading-5">
      <div className="min-w-0 grow py-1.5">
        <p className="break-words whitespace-pre-wrap">{first === '' ? 'no message' : first}</p>
        {rest !== '' && (
          <details>
            <summary className="w-fit font-sans text-accent">Causes and stack</summary>
            <pre className="mt-1 overflow-x-auto whitespace-pre-wrap text-soft">{rest}</pre>
          </details>
        )}
      </div>
      <CopyButton text={error} what="the error" />
    </div>
  )
}
