/** A repository on a forge whose policy a test breaks and corrects. */
import type { DriftReport } from '../../src/record/documents/drift-report.ts'
import { MemoryForge } from './memory-forge.ts'
import { policyText, TurnWorld } from './turn-world.ts'

export const IMAGE = 'spec.template.spec.containers[name=app].image'
export const EVIL = 'evil.example.com/miner:1'
export const POLICY = '.drift/policy.yaml'
export const TYPO = policyText('{mode: Propse}')
export const PLACEMENT = (allow: string): string =>
  `apiVersion: backporch.dev/v1alpha1\nkind: Placement\nmetadata: {name: test}\nspec: {clusters: ["*"], packages: ["**"], allow: ${allow}}\n`

interface Scene {
  readonly world: TurnWorld
  readonly forge: MemoryForge
}

export function sceneOf(
  policy = '{mode: Propose}',
  files: { readonly [path: string]: string } = {},
): Scene {
  const world = new TurnWorld(policy, files)
  const forge = new MemoryForge(world.repository)
  forge.now = () => world.cluster.now
  world.forge = forge
  return { world, forge }
}

export async function reportOf(world: TurnWorld): Promise<DriftReport> {
  return (await world.plan()).report
}

/** Every text that is in git or on the forge. */
export function everything({ world: { repository }, forge }: Scene): string {
  const branches = [...repository.branches.keys()].flatMap((ref) => {
    const name = ref.replace(/^refs\/(?:heads|tags)\//, '')
    return name === 'main' || !ref.startsWith('refs/heads/')
      ? []
      : repository.paths(name).map((path) => repository.text(name, path) ?? '')
  })
  return [
    ...branches,
    JSON.stringify([forge.proposals, forge.comments, [...forge.issues], [...forge.statuses]]),
  ].join('\n')
}

export function openIn({ forge }: Scene): number {
  return forge.proposals.filter(({ state }) => state === 'open').length
}
