/** Sign-in with a token, shown when the server requires one. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask, type Problem } from '../api/client.ts'
import { signIn, signOut } from '../api/user/session.ts'
import { Button } from '../kit/button.tsx'
import { Check, Field, TextInput } from '../kit/forms/field.tsx'

export function SignIn() {
  const client = useQueryClient()
  const [given, setGiven] = useState('')
  const [stay, setStay] = useState(false)
  const [wrong, setWrong] = useState<string | undefined>(undefined)

  async function enter(): Promise<void> {
    signIn(given.trim(), stay)
    try {
      await ask('overview')
      await client.resetQueries()
    } catch (error) {
      signOut()
      setWrong((error as Problem).message)
    }
  }

  return (
    <main className="flex min-h-dvh items-center justify-center p-4">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void enter()
        }}
        className="flex w-80 flex-col gap-4 rounded-xl border border-line bg-card p-6"
      >
        <div className="flex items-center gap-2">
          <img src="./mark.svg" alt="" className="size-8" />
          <h1 className="text-lg font-semibold">Mission Control</h1>
        </div>
        <Field
          label="Token"
          error={wrong}
          hint="A token from JOBMILL_TOKENS or the token file of the server."
        >
          {(ids) => (
            <TextInput
              {...ids}
              type="password"
              autoFocus
              required
              value={given}
              onChange={(event) => setGiven(event.target.value)}
            />
          )}
        </Field>
        <Check label="Stay signed in" checked={stay} onChange={(event) => setStay(event.target.checked)} />
        <Button type="submit" look="main" disabled={given.trim() === ''}>
          Sign in
        </Button>
      </form>
    </main>
  )
}
