/** The payload of one job before and after the patch, checked against the schema of its kind. */
import { mergePatch, type MergePatch } from 'jobmill/internal'
import { useMemo } from 'react'
import { useJob, useKinds } from '../../../../api/reads.ts'
import type { Job } from '../../../../api/types.ts'
import { DataView } from '../../../../kit/data-view.tsx'
import { problemsOf } from '../../../enqueue/validate/validate.ts'
import { Diff } from '../../../job/compare/diff.tsx'
import { jsonLines } from '../../../job/compare/json-lines.ts'
import { LARGEST } from '../../../job/largest.ts'

interface Props {
  readonly id: string
  readonly patch: MergePatch
}

/** The preview must not change while it is read. */
const NEVER_MS = Number.POSITIVE_INFINITY

export function PatchPreview({ id, patch }: Props) {
  const read = useJob(id, LARGEST, { atMostEveryMs: NEVER_MS })
  return (
    <DataView read={read}>
      {({ job, left }) =>
        left.payload === undefined ? (
          <Before job={job} patch={patch} />
        ) : (
          <p className="text-soft">The payload of the first job is too large for a preview.</p>
        )
      }
    </DataView>
  )
}

function Before({ job: { kind, payload }, patch }: { readonly job: Job; readonly patch: MergePatch }) {
  const { data } = useKinds()
  const schema = data?.kinds.find((one) => one.kind === kind)?.schema ?? null
  const after = useMemo(() => mergePatch(payload, patch), [payload, patch])
  const problems = useMemo(() => (schema === null ? [] : problemsOf(schema, after)), [schema, after])
  const [problem] = problems
  return (
    <>
      <Diff
        title={`First job: ${kind}`}
        none="The first job has no payload."
        names={['before', 'after']}
        sides={[jsonLines(payload), jsonLines(after)]}
      />
      <p role="status" className={problem === undefined ? 'text-soft' : 'text-dead'}>
        {problem === undefined
          ? schema === null
            ? `The server does not know the schema of ${kind}, so only the worker can check it.`
            : `Matches the schema of ${kind}.`
          : `Would be skipped: ${problem.path === '' ? 'payload' : problem.path} ${problem.says}.`}
      </p>
    </>
  )
}
