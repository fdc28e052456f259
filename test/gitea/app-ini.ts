import { randomBytes } from 'node:crypto'
import { userInfo } from 'node:os'
import { join } from 'node:path'

export interface GiteaSetup {
  /** Everything that Gitea writes is below it. */
  readonly directory: string
  /** On 127.0.0.1. */
  readonly port: number
  readonly staticRoot: string
}

type Section = Readonly<Record<string, string | number | boolean>>

/**
 * Gitea's whole configuration: one server on 127.0.0.1, SQLite, nothing that reaches another machine, secrets of this start
 * alone. Names as in Gitea's own `custom/conf/app.example.ini`.
 */
export function appIni(setup: GiteaSetup): string {
  const { directory } = setup
  const data = join(directory, 'data')
  const top: Section = {
    APP_NAME: 'Gitea for tests',
    RUN_MODE: 'prod',
    RUN_USER: userInfo().username,
    // Machines that run tests in a container are often root's; this one is thrown away with its folder.
    I_AM_BEING_UNSAFE_RUNNING_AS_ROOT: true,
    WORK_PATH: directory,
  }
  const sections: Readonly<Record<string, Section>> = {
    server: {
      HTTP_ADDR: '127.0.0.1',
      HTTP_PORT: setup.port,
      ROOT_URL: `http://127.0.0.1:${setup.port}/`,
      STATIC_ROOT_PATH: setup.staticRoot,
      APP_DATA_PATH: data,
      // Also: no pictures of users from elsewhere.
      OFFLINE_MODE: true,
      DISABLE_SSH: true,
      LFS_START_SERVER: false,
    },
    database: {
      DB_TYPE: 'sqlite3',
      PATH: join(data, 'gitea.db'),
      SQLITE_JOURNAL_MODE: 'WAL',
      SQLITE_TIMEOUT: 10_000,
    },
    security: {
      INSTALL_LOCK: true,
      SECRET_KEY: secret(),
      INTERNAL_TOKEN: secret(),
      MIN_PASSWORD_LENGTH: 1,
      PASSWORD_COMPLEXITY: 'off',
      // Every user of a test is new, and the default is 50,000 rounds for each.
      PASSWORD_HASH_ALGO: 'pbkdf2$1000$50',
      // A token is hashed slowly; one that was seen is remembered, and a run has more users than the default of 20.
      SUCCESSFUL_TOKENS_CACHE_SIZE: 1_000,
    },
    oauth2: { ENABLED: false },
    service: {
      DISABLE_REGISTRATION: true,
      ENABLE_CAPTCHA: false,
      REGISTER_EMAIL_CONFIRM: false,
      DEFAULT_KEEP_EMAIL_PRIVATE: false,
    },
    // sh is enough for what Gitea writes into each repository's hooks, and starts faster than bash.
    repository: {
      SCRIPT_TYPE: 'sh',
      ROOT: join(directory, 'repositories'),
      DEFAULT_BRANCH: 'main',
      DISABLE_DOWNLOAD_SOURCE_ARCHIVES: true,
    },
    git: { HOME_PATH: join(directory, 'home') },
    // A process after each push and fetch that looks whether there is something to tidy up: never in so small repositories.
    'git.config': { 'gc.auto': 0, 'maintenance.auto': false, 'receive.autogc': false },
    webhook: { ALLOWED_HOST_LIST: 'loopback', DELIVER_TIMEOUT: 5 },
    mailer: { ENABLED: false },
    actions: { ENABLED: false },
    packages: { ENABLED: false },
    federation: { ENABLED: false },
    // In the database: the default full-text index costs time at every start. Queues stay the default of an installation: one in memory
    // can keep a name for ever, and its pull request is never checked again (docs/facts/gitea-api.md).
    indexer: { ISSUE_INDEXER_TYPE: 'db', REPO_INDEXER_ENABLED: false },
    queue: { TYPE: 'level' },
    session: { PROVIDER: 'memory' },
    cron: { ENABLED: false },
    'cron.update_checker': { ENABLED: false },
    log: { MODE: 'console', LEVEL: 'Warn', COLORIZE: false, ROOT_PATH: join(directory, 'log') },
  }
  const lines = (section: Section): string[] =>
    Object.entries(section).map(([name, value]) => `${name} = ${value}`)
  return [
    ...lines(top),
    ...Object.entries(sections).flatMap(([name, section]) => ['', `[${name}]`, ...lines(section)]),
    '',
  ].join('\n')
}

function secret(): string {
  return randomBytes(32).toString('hex')
}
