/** Somebody without a code owner's right forges the branch in the name of the bot first: what a command may do does not follow from it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DriftRecord, driftRecordSchema } from '../../src/record/documents/drift-record.ts'
import { formatInertDocument, parseDocument } from '../../src/record/write-document.ts'
import { answer, message, opened, type Scene } from '../fakes/answered-proposal.ts'
import { BOT_EMAIL } from '../fakes/memory-repository.ts'
import { WEB } from '../fakes/turn-world.ts'

const OWNERS = '.github/CODEOWNERS'
const IMAGE = 'spec.template.spec.containers[name=app].image'
const AT = `deployment/web:${IMAGE}`
type Change = DriftRecord['spec']['changes'][number]

/** Change 3 is a critical image of a file that `grace` owns; `ada` may write. */
async function owned(): Promise<Scene> {
  const scene = await opened({ [OWNERS]: '/apps/ @grace\n' })
  scene.world.edit(WEB, IMAGE, 'evil.example/nginx:1')
  await scene.world.plan()
  scene.forge.permissions.set('grace', 'write')
  return scene
}

function recordOn({ world: { repository }, ref }: Scene): {
  readonly path: string
  readonly text: string
} {
  const branch = ref.replace('refs/heads/', '')
  const path =
    repository.paths(branch).find((one) => one.startsWith('.drift/records/')) ??
    assert.fail('no record')
  return { path, text: repository.text(branch, path) ?? '' }
}

function withChanges(
  text: string,
  edit: (changes: readonly Change[]) => readonly Change[],
): string {
  const record = parseDocument(text, driftRecordSchema, 'record')
  return formatInertDocument({
    ...record,
    spec: { ...record.spec, changes: [...edit(record.spec.changes)] },
  })
}

const each =
  (more: Partial<Change>) =>
  (changes: readonly Change[]): readonly Change[] =>
    changes.map((change) => ({ ...change, ...more }))

const FORGERIES: {
  readonly [what: string]: (text: string) => { readonly [path: string]: string | null }
} = {
  'the risk lowered': (text) => ({ record: withChanges(text, each({ risk: 'low' })) }),
  'the source moved to a file that nobody owns': (text) => ({
    record: withChanges(text, each({ source: 'README.md:1' })),
  }),
  'the resolution flipped': (text) => ({
    record: withChanges(text, each({ resolution: 'Adopt' })).replace(
      'plan: Restore',
      'plan: Adopt',
    ),
  }),
  'the numbers swapped': (text) => ({
    record: withChanges(text, (changes) => changes.toReversed()),
  }),
  'other code owners on the branch': (text) => ({ record: text, [OWNERS]: '/apps/ @ada\n' }),
  'no code owners on the branch': (text) => ({ record: text, [OWNERS]: null }),
}

const LEDGERS: { readonly [what: string]: (scene: Scene) => void } = {
  'with the ledger': () => undefined,
  'with a ledger that does not know the branch': ({ world: { repository }, ref }) => {
    repository.commitByHand(
      'drift-ledger',
      { [`pushed/${ref.replace('refs/heads/', '')}.yaml`]: null },
      { author: BOT_EMAIL },
    )
  },
  'without a ledger': ({ world: { repository } }) =>
    void repository.branches.delete('refs/heads/drift-ledger'),
}

async function forge(
  scene: Scene,
  forgery: (text: string) => { readonly [path: string]: string | null },
): Promise<void> {
  const { world, ref, forge: hosted } = scene
  const branch = ref.replace('refs/heads/', '')
  const { path, text } = recordOn(scene)
  const { record = text, ...others } = forgery(text)
  const { parents, message, author } = await world.repository.commit(world.repository.head(branch))
  const files = { [path]: record, ...others }
  const commit = world.repository.commitByHand(branch, files, {
    author: BOT_EMAIL,
    committer: BOT_EMAIL,
    parents,
    message,
    at: author.at,
  })
  hosted.byHand(1, { commit })
}

/** Of the image, by its place and as a part of everything; a number means what stood on the branch, whoever wrote that. */
const COMMANDS = [
  '/adopt 3',
  '/adopt',
  `/release ${AT}`,
  '/ignore 3 -- why',
  `/ignore ${AT} -- why`,
  '/recreate\n/adopt 3',
  `/recreate\n/adopt ${AT}`,
]

for (const [what, forgery] of Object.entries(FORGERIES))
  for (const [where, lose] of Object.entries(LEDGERS))
    test(`${what}, ${where}: only code owners adopt, release or ignore a critical change`, async () => {
      const scene = await owned()
      await forge(scene, forgery)
      lose(scene)
      for (const command of COMMANDS) {
        const before = recordOn(scene).text
        scene.forge.comment(1, 'ada', command)
        const outcomes = (await answer(scene)).map(({ outcome }) => outcome)
        if (!command.includes('3'))
          assert.equal(outcomes.at(-1), 'refused', `${command}: ${message(scene)}`)
        const { text } = recordOn(scene)
        // Either what somebody forged, which nobody vouches for, or made anew: then the policy's plan for the image.
        if (text !== before) {
          const image = parseDocument(text, driftRecordSchema, 'record').spec.changes.find(
            ({ path }) => path === IMAGE,
          )
          assert.equal(image?.resolution, 'Restore', command)
        }
        for (const { body } of scene.forge.proposals.slice(1))
          assert.doesNotMatch(body, /image/, `${command} proposes a rule`)
      }
    })

test('a code owner replaces a forged branch and adopts', async () => {
  const scene = await owned()
  await forge(scene, FORGERIES['the risk lowered'] ?? assert.fail())
  scene.forge.comment(1, 'grace', '/recreate\n/adopt 3')
  assert.deepEqual(
    (await answer(scene)).map(({ outcome }) => outcome),
    ['done', 'done'],
  )
  assert.match(recordOn(scene).text, /resolution: Adopt/)
})
