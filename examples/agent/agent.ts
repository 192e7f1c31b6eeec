/** An AI agent as a durable job: each call of the model and of a tool is a step. */
import { Dead, defineJob, type JobContext, type StepContext } from 'jobmill'

interface ToolCall {
  readonly id: string
  readonly function: { readonly name: string; readonly arguments: string }
}
export type Message =
  | { readonly role: 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string | null; readonly tool_calls?: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string }

type Answer = Extract<Message, { role: 'assistant' }>
export interface Services {
  /** Sends the conversation to the model, and returns its answer. */
  readonly askModel: (messages: readonly Message[], step: StepContext) => Promise<Answer>
  /** Runs a tool, and returns its result as text. */
  readonly callTool: (call: ToolCall, step: StepContext) => Promise<string>
}

const MOST_TURNS = 20

export const agentJob = ({ askModel, callTool }: Services) =>
  defineJob({
    kind: 'agent.run',
    async run({ payload, step }: JobContext<{ question: string }>) {
      const messages: Message[] = [{ role: 'user', content: payload.question }]
      for (let turn = 1; turn <= MOST_TURNS; turn += 1) {
        const answer = await step.run(`model ${turn}`, (context) => askModel(messages, context))
        messages.push(answer)
        const calls = answer.tool_calls ?? []
        if (calls.length === 0) return { answer: answer.content, turns: turn }
        // The recorded answer names the calls, so the names of their steps are the same in every attempt.
        const results = calls.map(async (call) => ({
          role: 'tool' as const,
          tool_call_id: call.id,
          content: await step.run(`${call.function.name} ${call.id}`, (context) => callTool(call, context)),
        }))
        messages.push(...(await Promise.all(results)))
      }
      throw new Dead(`no answer after ${MOST_TURNS} turns`)
    },
  })
