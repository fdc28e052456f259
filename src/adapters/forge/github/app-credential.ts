/** The GitHub App that the environment names: its id, its private key and, where given, its installation. */
import { resolve } from 'node:path'
import { Failure } from '../../../failure.ts'
import type { Environment } from '../../system/child-environment.ts'
import { readKeyFile, settingOf, withLineBreaks } from '../../system/key-setting.ts'
import { isGitHubHost } from './github-address.ts'
import type { GitHubCredential } from './github-credentials.ts'

type AppCredential = Extract<GitHubCredential, { kind: 'app' }>

const ID = 'BACKPORCH_APP_ID'
const KEY = 'BACKPORCH_APP_PRIVATE_KEY'
const KEY_FILE = 'BACKPORCH_APP_PRIVATE_KEY_FILE'
const INSTALLATION = 'BACKPORCH_APP_INSTALLATION_ID'
/** Bytes; a key of 16,384 bits has 13 KB. */
const LARGEST = 64 * 1024

/**
 * Undefined where no App is named, where `BACKPORCH_TOKEN` comes before it, and for a host that is not GitHub: a signature of the key would let
 * that host act as the App.
 * @param folder base of a relative `BACKPORCH_APP_PRIVATE_KEY_FILE`
 * @throws Failure BP5002 for half a credential or an unreadable file; never with the key in it
 */
export async function appCredential(host: string, environment: Environment, folder: string): Promise<AppCredential | undefined> {
  const id = settingOf(environment, ID)
  if (settingOf(environment, 'BACKPORCH_TOKEN') !== '' || !isGitHubHost(host, environment)) return undefined
  const [text, file] = [settingOf(environment, KEY), settingOf(environment, KEY_FILE)]
  if (id === '') {
    const key = text !== '' ? KEY : file !== '' ? KEY_FILE : undefined
    if (key === undefined) return undefined
    throw unusable(`${key} is set, and ${ID} is not`, `set ${ID} to the number that the App's settings show, or unset ${key}`)
  }
  if (text !== '' && file !== '') throw unusable(`both ${KEY} and ${KEY_FILE} are set`, 'unset one of them')
  if (text === '' && file === '') {
    throw unusable(`${ID} is set, and neither ${KEY} nor ${KEY_FILE}`, `set ${KEY_FILE} to the path of the App's .pem file`)
  }
  const installation = settingOf(environment, INSTALLATION)
  return {
    kind: 'app',
    appId: numberIn(ID, id),
    privateKey: text === '' ? await keyIn(resolve(folder, file)) : withLineBreaks(text),
    ...(installation === '' ? {} : { installationId: numberIn(INSTALLATION, installation) }),
  }
}

function numberIn(name: string, text: string): number {
  const value = Number(text)
  if (/^[1-9][0-9]*$/.test(text) && Number.isSafeInteger(value)) return value
  throw unusable(`${name} is not a number`, `set ${name} to the number that GitHub shows`)
}

async function keyIn(path: string): Promise<string> {
  const read = await readKeyFile(path, LARGEST)
  if ('text' in read) return read.text
  if (read.problem === undefined) throw unusable(`${KEY_FILE} names ${path}, which is too large for a key`, "name the App's .pem file")
  const remedy = "name the App's .pem file, and let this user read it"
  throw unusable(`${KEY_FILE} names ${path}, which cannot be read (${read.problem})`, remedy)
}

function unusable(why: string, remedy: string): Failure {
  return new Failure({
    code: 'BP5002',
    what: 'cannot act as the GitHub App',
    where: 'the environment',
    why,
    remedy,
    retry: 'on-change',
  })
}
