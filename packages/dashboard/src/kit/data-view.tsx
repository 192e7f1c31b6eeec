/** Placeholders for data that is empty or failed to load. An empty state says what to do next. */
import type { ReactNode } from 'react'
import type { Problem } from '../api/client.ts'
import type { Read } from '../api/reads.ts'
import { Button } from './button.tsx'
import { type Shape, Skeleton } from './skeleton.tsx'

export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-2 px-4 py-10 text-center">
      <p className="font-medium">{title}</p>
      {children !== undefined && <div className="max-w-prose text-soft">{children}</div>}
    </div>
  )
}

export function Failed({ problem, again }: { readonly problem: Problem; readonly again: () => void }) {
  return (
    <div role="alert" className="flex flex-col items-center gap-2 px-4 py-10 text-center">
      <p className="font-medium text-dead">{problem.message}</p>
      <p className="text-soft">
        {problem.fix === undefined || problem.fix === problem.message
          ? `Error code: ${problem.code}.`
          : problem.fix}
      </p>
      <Button onClick={again}>Try again</Button>
    </div>
  )
}

/** Loading, failed, or the data. Data that was loaded before stays when a later read fails. */
export function DataView<T>({
  read,
  shape,
  children,
}: {
  readonly read: Read<T>
  /** What it looks like once it is loaded. */
  readonly shape?: Shape
  readonly children: (data: T) => ReactNode
}) {
  if (read.data !== undefined) return <>{children(read.data)}</>
  if (read.error !== null) return <Failed problem={read.error} again={() => void read.refetch()} />
  return <Skeleton shape={shape} />
}
