import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryForge } from '../../../test/fakes/memory-forge.ts'
import { TurnWorld } from '../../../test/fakes/turn-world.ts'
import { readProposals } from './read-proposals.ts'
import { readRepository } from './repository-view.ts'

const signal = new AbortController().signal

for (const ending of ['record', 'yaml'])
  test(`asks the forge about a record on the base branch that the ledger lacks, ending in .${ending}`, async () => {
    const world = new TurnWorld('{mode: Propose}')
    world.repository.commitByHand('main', {
      [`.drift/records/prod/apps--web/20261121-1a2b3c4d.${ending}`]: 'a record',
    })
    const forge = new MemoryForge(world.repository)
    const asked: string[] = []
    forge.readProposals = async (_base, refs) => {
      asked.push(...refs)
      return []
    }
    await readProposals(
      await readRepository(world.repository, undefined, signal),
      forge,
      '2026-11-21T10:00:00Z',
      signal,
    )
    assert.deepEqual(asked, ['refs/heads/proposed/apps/web/drift-1a2b3c4d'])
  })
