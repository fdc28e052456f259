/** Random days in git and on the forge: commits, policies, and what people decide and write about proposals. */
import fc from 'fast-check'
import { DEPLOYMENT, policyText } from '../fakes/turn-world.ts'
import { configOf, type Day, day, packagesOf, policyOf, type Size } from './event-day.ts'
import type { SyncedFleet } from './synced-fleet.ts'

/** Of the first day of a fleet, and of the day after it. */
const [TODAY, TOMORROW] = ['2026-11-21', '2026-11-22'] as const

/** What takes days otherwise. */
export const IN_HOURS = policyOf(
  'Propose',
  'decide: {closeSilence: 2h, remindAfter: 1h, escalateAfter: 3h}',
)

const POLICIES = [
  policyOf('Propose'),
  policyOf('Warn'),
  policyOf('Off'),
  policyOf('Propose', 'ignore: [{paths: [data.color], reason: colours are free}]'),
]

const POLICIES_WITH_TIMES = [
  policyOf('Propose', '', '{minAge: 4m, settle: 3m}'),
  policyOf('Propose', '', '{minAge: 0s, settle: 0s, stuckAfter: 20m}'),
  policyOf('Propose', '', undefined, 'digest: "0 * * * *"'),
  policyOf('Propose', `ignore: [{paths: [data.color], reason: for today, expires: ${TODAY}}]`),
  policyOf(
    'Propose',
    `ignore: [{paths: [data.color], reason: until tomorrow, expires: ${TOMORROW}}]`,
  ),
  policyOf(
    'Propose',
    'windows: [{name: rush, kind: hold, schedule: "*/20 * * * *", duration: 10m}]',
  ),
  policyOf(
    'Propose',
    'windows: [{name: night, kind: adopt, schedule: "0 */2 * * *", duration: 1h}]',
  ),
  IN_HOURS,
]

export function commits(size: Size): fc.Arbitrary<Day> {
  const name = fc.constantFrom(...packagesOf(size))
  const commit = (what: string, files: { readonly [path: string]: string | null }): Day =>
    day(what, (world) => void world.repository.commitByHand('main', files), { isInGit: true })
  const policy = (text: string): Day =>
    commit(`the policy is ${text}`, { '.drift/policy.yaml': policyText(text) })
  return fc.oneof(
    fc.tuple(name, fc.constantFrom('blue', 'black')).map(([each, color]) =>
      commit(`${each} is ${color} in git`, {
        [`apps/${each}/config.yaml`]: configOf(each).replace('blue', color),
      }),
    ),
    fc.constantFrom(...POLICIES).map(policy),
    fc.constantFrom(...POLICIES_WITH_TIMES).map(policy),
    fc.boolean().map((more) =>
      commit(`the Deployment has a comment in git: ${more}`, {
        'apps/web/deployment.yaml': more ? `${DEPLOYMENT}# more\n` : DEPLOYMENT,
      }),
    ),
    fc.tuple(name, fc.boolean()).map(([each, isThere]) =>
      commit(`${each} has another object: ${isThere}`, {
        [`apps/${each}/more.yaml`]: isThere ? configOf(`${each}-more`) : null,
      }),
    ),
    fc.nat().map((value) => commit('a text is written', { 'README.md': `${value}\n` })),
  )
}

export const decisions: fc.Arbitrary<Day> = fc
  .tuple(fc.nat(), fc.constantFrom('merged', 'closed', 'taken over'))
  .map(([pick, how]) =>
    day(
      `proposal ${pick} is ${how}`,
      (world) => onOpen(world, pick, ({ branch }) => decide(world, branch, how)),
      { isInGit: true },
    ),
  )

const COMMANDS = [
  '/restore',
  '/adopt',
  '/adopt 1 -- it is right',
  '/release',
  '/release 1',
  '/recheck',
  '/recreate',
  '/snooze 2h',
  '/ignore 1 --for 1d -- for today',
  '/ignore 1 -- colours are free',
  '/unignore 1',
  '/exclude edge-*',
  '/explain 1',
  '/show ignores',
  '/help',
  '/adopt 7',
  'I think that this is right.',
] as const

/** Only `grace` may write. */
export const comments: fc.Arbitrary<Day> = fc
  .tuple(fc.nat(), fc.constantFrom(...COMMANDS), fc.constantFrom('grace', 'grace', 'grace', 'bob'))
  .map(([pick, command, author]) =>
    day(
      `${author} writes ${command} on proposal ${pick}`,
      (world) =>
        onOpen(world, pick, ({ number }) =>
          world.forge.comment(number, author, command, { at: world.cluster(0).now }),
        ),
      { isInGit: true },
    ),
  )

/** Nothing happens, for a while. */
export const waits: fc.Arbitrary<Day> = fc
  .constantFrom<readonly [what: string, minutes: number]>(
    ['ten minutes', 10],
    ['an hour', 60],
    ['a day', 1_440],
    ['31 days', 44_640],
  )
  .map(([what, minutes]) => day(`${what} pass`, () => undefined, { minutes }))

function decide(world: SyncedFleet, branch: string, how: string): void {
  if (how === 'merged') world.merge(branch)
  else if (how === 'closed') world.close(branch)
  else world.repository.commitByHand(branch, { 'apps/web/note.txt': 'mine\n' })
}

function onOpen(
  world: SyncedFleet,
  pick: number,
  work: (open: { readonly branch: string; readonly number: number }) => void,
): void {
  const open = world.forge.proposals
    .filter(({ state, ref }) => state === 'open' && world.repository.branches.has(ref))
    .map(({ ref, number }) => ({ branch: ref.replace('refs/heads/', ''), number }))
    .sort((left, right) => (left.branch < right.branch ? -1 : 1))
  const one = open[pick % Math.max(1, open.length)]
  if (one !== undefined) work(one)
}
