/** Error boundary: an unexpected value breaks one page, not the whole dashboard. The menu stays usable. */
import { Component, type ReactNode } from 'react'
import { Button } from '../kit/button.tsx'

interface Props {
  readonly children: ReactNode
}

interface State {
  readonly broke: string | null
}

export class Boundary extends Component<Props, State> {
  override state: State = { broke: null }

  static getDerivedStateFromError(error: unknown): State {
    return { broke: error instanceof Error ? error.message : String(error) }
  }

  override render(): ReactNode {
    const { broke } = this.state
    if (broke === null) return this.props.children
    return (
      <div role="alert" className="flex flex-col items-center gap-2 px-4 py-10 text-center">
        <h1 className="text-lg font-semibold">Something went wrong on this page</h1>
        <p className="max-w-prose text-soft">{broke}</p>
        <Button onClick={() => this.setState({ broke: null })}>Try again</Button>
      </div>
    )
  }
}
