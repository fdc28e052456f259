import { readFileSync } from 'node:fs'
import { Failure } from '@backporch/kyaml/failure'
import { isJsonObject, type JsonObject, parseJson } from '@backporch/kyaml/json'
import type { CliContext } from '../context/cli-context.ts'

export interface EventPullRequest {
  readonly head: EventSide
  readonly base: EventSide
  readonly number: number | undefined
  /** Or in a deleted repository. */
  readonly fork: boolean
}

interface EventSide {
  readonly ref: string
  /** 40 hex digits; empty if the event has none. */
  readonly commit: string
  readonly repository: string
}

/** @throws Failure BP1001 if the workflow does not run for a pull request */
export function readPullRequest(env: CliContext['env'], command: string): EventPullRequest {
  const path = env['GITHUB_EVENT_PATH'] || undefined
  let event: JsonObject = {}
  try {
    const read = path === undefined ? undefined : parseJson(readFileSync(path, 'utf8'))
    if (isJsonObject(read)) event = read
  } catch {
    // Fails below like an event that is not for a pull request.
  }
  const pull = event['pull_request']
  const [head, base] = isJsonObject(pull) ? [parseSide(pull['head']), parseSide(pull['base'])] : []
  const number = isJsonObject(pull) ? pull['number'] : undefined
  if (head !== undefined && base !== undefined)
    return {
      head,
      base,
      number: typeof number === 'number' ? number : undefined,
      fork: head.repository !== base.repository,
    }
  throw new Failure({
    code: 'BP1001',
    what: `the command ${command} needs a pull request`,
    where: 'GITHUB_EVENT_PATH',
    why: 'the workflow does not run for the event pull_request',
    remedy: 'use "on: pull_request", or another command',
  })
}

function parseSide(side: JsonObject[string] | undefined): EventSide | undefined {
  if (!isJsonObject(side)) return undefined
  const { ref, repo, sha } = side
  // Null if the fork was deleted.
  const name = isJsonObject(repo) ? repo['full_name'] : undefined
  const commit = typeof sha === 'string' && /^[0-9a-f]{40}$/.test(sha) ? sha : ''
  return typeof ref === 'string' && ref !== ''
    ? { ref, commit, repository: typeof name === 'string' ? name : '' }
    : undefined
}
