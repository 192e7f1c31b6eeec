/**
 * Shown when the host application's session has ended. The host signs users in, so there is no token to ask
 * for.
 */
import { Button } from '../kit/button.tsx'

export function SignedOut() {
  return (
    <main className="flex min-h-dvh items-center justify-center p-4">
      <div className="flex w-80 flex-col gap-4 rounded-xl border border-line bg-card p-6">
        <div className="flex items-center gap-2">
          <img src="./mark.svg" alt="" className="size-8" />
          <h1 className="text-lg font-semibold">Signed out</h1>
        </div>
        <p>Your session has ended. Sign in to the application that serves Mission Control, then reload.</p>
        <Button look="main" onClick={() => location.reload()}>
          Reload
        </Button>
      </div>
    </main>
  )
}
