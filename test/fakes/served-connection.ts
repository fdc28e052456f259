/** A connection to a scripted server, and one request over it. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { ApiConnection } from '@backporch/cluster/api-server'
import { Failure, type FailureCode } from '@backporch/kyaml/failure'
import { connectionTo, type TestConnection } from '../apiserver/scripted-cluster.ts'
import {
  type ScriptedAnswer,
  type ScriptedOptions,
  type ScriptedRequest,
  scriptedServer,
} from '../apiserver/scripted-server.ts'

type Sent = Parameters<ApiConnection['send']>

export const ASKED: Sent[1] = {
  cluster: 'scripted',
  verb: 'get',
  resource: undefined,
  path: '/x',
}
export const GET: Sent[0] = { method: 'GET', path: '/x', repeatable: true }
export const never = new AbortController().signal

export async function serveConnection(
  t: TestContext,
  answer: (request: ScriptedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>,
  options: ScriptedOptions & { connection?: TestConnection } = {},
) {
  const server = await scriptedServer(answer, options)
  const connection = connectionTo(server, options.connection)
  t.after(async () => {
    connection.close()
    await server.close()
  })
  return { server, connection }
}

export function failsWith(code: FailureCode, ...parts: readonly RegExp[]) {
  return (thrown: unknown): boolean => {
    assert.ok(thrown instanceof Failure, String(thrown))
    assert.equal(thrown.code, code, `${thrown.code}: ${thrown.message}`)
    for (const part of parts)
      assert.match(`${thrown.message} ${thrown.where} ${thrown.remedy}`, part)
    return true
  }
}
