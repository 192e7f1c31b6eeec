/** Entry point of the dashboard. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { shouldRetry } from './api/live/retry.ts'
import { App } from './app.tsx'
import './style.css'

const client = new QueryClient({
  defaultOptions: {
    queries: {
      retry: shouldRetry,
      refetchOnWindowFocus: false,
      staleTime: 500,
    },
  },
})

const root = document.querySelector('#page')
if (root === null) throw new Error('element #page not found')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
)
