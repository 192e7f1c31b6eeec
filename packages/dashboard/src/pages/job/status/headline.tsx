/** The headline of a job: what matters most right now. */
import type { ReactNode } from 'react'

export function Headline({ children }: { readonly children: ReactNode }) {
  return <p className="text-lg leading-snug font-medium text-balance break-words">{children}</p>
}
