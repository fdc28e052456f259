/** Recorded clusters of files in a temporary folder, and what they answer about one object. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { openRecordedCluster, type RecordedCluster } from '@backporch/cluster/recording'
import { Failure } from '@backporch/kyaml/failure'
import { getResourceKey, type LiveState, type WantedObject } from '@backporch/kyaml/resource'

const { signal } = new AbortController()
/** Of recordings that tell no time. */
export const observedAt = '2026-01-01T00:00:00Z'

export function writeRecording(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'recording-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

export function recorded(t: TestContext, files: Readonly<Record<string, string>>): RecordedCluster {
  return openRecordedCluster({ path: writeRecording(t, files), observedAt })
}

export function wanted(
  apiVersion: string,
  kind: string,
  namespace: string,
  name: string,
): WantedObject {
  return {
    apiVersion,
    id: {
      group: apiVersion.includes('/') ? apiVersion.replace(/\/.*/, '') : '',
      kind,
      namespace,
      name,
    },
  }
}

export async function stateOf(cluster: RecordedCluster, one: WantedObject): Promise<LiveState> {
  const state = (await cluster.readLive([one], signal)).get(getResourceKey(one.id))
  assert.ok(state !== undefined)
  return state
}

export async function verdict(cluster: RecordedCluster, one: WantedObject): Promise<string> {
  const state = await stateOf(cluster, one)
  return state.state === 'unreadable' ? state.failure.code : state.state
}

export function failsWith(code: string, ...parts: readonly RegExp[]) {
  return (thrown: unknown): boolean => {
    assert.ok(thrown instanceof Failure, String(thrown))
    assert.equal(thrown.code, code, thrown.message)
    for (const part of parts) assert.match(`${thrown.where} ${thrown.what} ${thrown.why}`, part)
    return true
  }
}
