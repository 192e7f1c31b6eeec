/**
 * The schema objects after all migrations, in the format of catalog.ts. Columns are listed in the line of
 * their table, and functions have a hash of their text. A test compares this with a migrated schema and
 * prints the lines to put here after a change.
 */
import { nameOf, type Parts } from '../../store/admin/drift.ts'

export const EXPECTED = `
function add_names_version(): f1b1858f42b121644dc9380cf9256b06
function any_ready(integer[], integer[], integer[], integer[], bigint[], integer[]): 642684cae812f664b98f6d3473dab6cd
function cancel(uuid, text): 2378026d13e15173d3280e5ff506caf4
function check_options(jsonb, text, text[]): 4d33aca8098f5b55ee78ceda08347c39
function claim(bigint, uuid, text[], integer[], integer[], integer, integer[], integer[], bigint[], integer[], boolean, integer, boolean, text, boolean, text): c85e73c2fec1f740dc849923c470f3d7
function enqueue(bigint, boolean, uuid[], integer[], integer[], smallint[], smallint[], bigint[], text, text[], text, text, boolean, uuid, integer[], integer[], integer[], integer[], integer[], bigint[], integer[], text, text, integer): f33fe92131bab4f4138b4f0f60ee03e1
function enqueue(text, json, jsonb): eb1c4fb7a0a855ecc33ca3f59fc353c2
function fair_places(integer, integer[], integer, bigint, integer, integer): 615448e94b447803bc9835da13f2251f
function fair_turns(integer[], integer[], integer[], integer[], integer, integer, json): 43bf7956bf4ce1c459f7d7b0424b05d5
function finish(bigint, uuid[], bigint[], bigint[], text, boolean, text, integer, bigint[], bigint[]): a563d7f419acb5a6e6601743cd39da87
function finish_each(bigint, json, integer, bigint[], bigint[]): 5853e2291668f0713962370b78fbb6e7
function first_ready(uuid, integer[], bigint, integer[], integer[], bigint[], integer[]): 3f0e31b9e66422299a9e73de07537b9f
function free_keys(uuid[]): 02a16c6709e2607d2d17cc6f4aae95a9
function group_kind(integer, text): 73102d3a5b5c33c4ebf702534bfdea0c
function group_names(integer, integer): 75882aa69fb40c846985cece41709142
function group_place(integer, uuid): c424330b46c5a5de21e7210af36f6f4e
function group_ready(integer, text, integer): 58d9ad3ca67b865de4cbf66e680c581a
function group_start(integer, text): 6f7a60e8074452160c6796bef9e018d3
function group_waits(integer, uuid): fe6c889ce8f29d6d4207d8783ca7025c
function heartbeat(text): 8e7047cb45df701a534c23c8b8a2dd92
function hold_group(integer, text, integer): 1d422d9ba00f4752840f4dc7f65ae51f
function in_group(bigint, bigint): 8ea61362ceb7e10953ed021526212c39
function index_entries(jsonb, jsonb): 6ae0b8541eb924441e7b95b518af6694
function insert_jobs(bigint, uuid[], integer[], integer[], smallint[], smallint[], bigint[], text, text[], text, text, boolean, uuid, bigint, integer[], integer[], integer[], integer[]): c56adc5bc76c37389adc494b6f819e16
function kind_id(text): 9524b13fdd9a1f8d32078a4c61f73a3d
function limited(integer[], integer[]): 78a3b249f5706961db56d50a0adee5a8
function names_added(): a7887f882958b34851e23dab238dcf7a
function names_altered(): 16fe5b6cc3357604415018f1c50427d0
function names_unknown(): 327e2cf02a43ee3504db8109e33c378c
function next_due(bigint): 81b14d333632aaad4fcc4610f9a07ba1
function option_instant(jsonb, text): 59a05da602ecbe56d37075a44088ccaf
function option_ms(jsonb, text, bigint): a0a4567d2bb4d43b80ddcf68770b9203
function option_text(jsonb, text, integer, boolean): 1232ac84521cbf1e6c80ac81277e1f3c
function option_whole(jsonb, text, integer, integer): 99a10bb10cefc2c57151e100baed2ac4
function permits_freed(uuid[]): 95b0504453c1c12b981309a9e7c62c84
function queue_id(text): 1029f6e7eeaf69743e69839c076d4bb1
function record_steps(text): f97e977b8a82ad5868577e7afa58271c
function refuse(text, text, text, text): 92cbd2f368f876d8a54ec85e3b11ed56
function send_event(uuid, text, json): 887579efc407e00708c51012f9930085
function stage_groups(bigint, integer): 741d02f8e2597730816819c8b7bf8e1a
function state_of(uuid): 18ef4233e200a4e6616c4c72ec946d3f
function text_at(jsonb, text): c01e15b363c5fe2e8b86e79dbfb0c32b
function unpack(bigint[], uuid[], uuid[]): 9da7d4212885139cdb0e6c2202423364
function wait_for(bigint, json): 77143020024072543a9d90d84a59abf5
index alert.alert_pkey: ALTER TABLE jobmill.alert ADD CONSTRAINT alert_pkey PRIMARY KEY (name)
index attempt.attempt_ended: CREATE INDEX attempt_ended ON jobmill.attempt USING btree (queue_id, ended_as, ended_at, job_id) WHERE (ended_as IS NOT NULL)
index attempt.attempt_pkey: ALTER TABLE jobmill.attempt ADD CONSTRAINT attempt_pkey PRIMARY KEY (job_id, token)
index batch.batch_instance: CREATE INDEX batch_instance ON jobmill.batch USING btree (instance)
index batch.batch_pkey: ALTER TABLE jobmill.batch ADD CONSTRAINT batch_pkey PRIMARY KEY (token, queue_id)
index child.child_open: CREATE INDEX child_open ON jobmill.child USING btree (parent_id, step) WHERE (ended_as IS NULL)
index child.child_parent: CREATE INDEX child_parent ON jobmill.child USING btree (parent_id, step, place)
index child.child_pkey: ALTER TABLE jobmill.child ADD CONSTRAINT child_pkey PRIMARY KEY (id)
index dedupe.dedupe_expiry: CREATE INDEX dedupe_expiry ON jobmill.dedupe USING btree (expires_at) WHERE (expires_at IS NOT NULL)
index dedupe.dedupe_pkey: ALTER TABLE jobmill.dedupe ADD CONSTRAINT dedupe_pkey PRIMARY KEY (key)
index duty.duty_pkey: ALTER TABLE jobmill.duty ADD CONSTRAINT duty_pkey PRIMARY KEY (name)
index event.event_at: CREATE INDEX event_at ON jobmill.event USING btree (at)
index event.event_job: CREATE INDEX event_job ON jobmill.event USING btree (job_id, n) WHERE (job_id IS NOT NULL)
index event.event_pkey: ALTER TABLE jobmill.event ADD CONSTRAINT event_pkey PRIMARY KEY (n)
index event.event_queue: CREATE INDEX event_queue ON jobmill.event USING btree (queue, n) WHERE (queue IS NOT NULL)
index event.event_type: CREATE INDEX event_type ON jobmill.event USING btree (type, n)
index group_slot.group_slot_job_id_key: ALTER TABLE jobmill.group_slot ADD CONSTRAINT group_slot_job_id_key UNIQUE (job_id)
index group_slot.group_slot_pkey: ALTER TABLE jobmill.group_slot ADD CONSTRAINT group_slot_pkey PRIMARY KEY (queue_id, name, job_id)
index instance.instance_ended: CREATE INDEX instance_ended ON jobmill.instance USING btree (ended_at) WHERE (ended_at IS NOT NULL)
index instance.instance_expiry: CREATE INDEX instance_expiry ON jobmill.instance USING btree (expires_at) WHERE (ended_at IS NULL)
index instance.instance_pkey: ALTER TABLE jobmill.instance ADD CONSTRAINT instance_pkey PRIMARY KEY (id)
index job.job_pkey: ALTER TABLE jobmill.job ADD CONSTRAINT job_pkey PRIMARY KEY (id)
index job_event.job_event_pkey: ALTER TABLE jobmill.job_event ADD CONSTRAINT job_event_pkey PRIMARY KEY (job_id, id)
index job_group.job_group_check: CREATE INDEX job_group_check ON jobmill.job_group USING btree (check_at) WHERE (check_at IS NOT NULL)
index job_group.job_group_pkey: ALTER TABLE jobmill.job_group ADD CONSTRAINT job_group_pkey PRIMARY KEY (queue_id, name)
index job_group.job_group_weight: CREATE INDEX job_group_weight ON jobmill.job_group USING btree (queue_id, first_place) WHERE (weight IS NOT NULL)
index job_tag.job_tag_pkey: ALTER TABLE jobmill.job_tag ADD CONSTRAINT job_tag_pkey PRIMARY KEY (tag, job_id)
index kind.kind_name_key: ALTER TABLE jobmill.kind ADD CONSTRAINT kind_name_key UNIQUE (name)
index kind.kind_pkey: ALTER TABLE jobmill.kind ADD CONSTRAINT kind_pkey PRIMARY KEY (id)
index later.later_id_key: ALTER TABLE jobmill.later ADD CONSTRAINT later_id_key UNIQUE (id)
index later.later_pkey: ALTER TABLE jobmill.later ADD CONSTRAINT later_pkey PRIMARY KEY (due_at, id)
index limit.limit_look: CREATE INDEX limit_look ON jobmill."limit" USING btree (look_at) WHERE (key <> ''::text)
index limit.limit_own: CREATE INDEX limit_own ON jobmill."limit" USING btree (name) WHERE (key = ''::text)
index limit.limit_pkey: ALTER TABLE jobmill."limit" ADD CONSTRAINT limit_pkey PRIMARY KEY (name, key)
index limit_waiter.limit_waiter_pkey: ALTER TABLE jobmill.limit_waiter ADD CONSTRAINT limit_waiter_pkey PRIMARY KEY (limit_name, key, holder)
index limit_waiter.limit_waiter_since: CREATE INDEX limit_waiter_since ON jobmill.limit_waiter USING btree (taken_at)
index lost_job.lost_job_pkey: ALTER TABLE jobmill.lost_job ADD CONSTRAINT lost_job_pkey PRIMARY KEY (instance, job_id, token)
index metric.metric_pkey: ALTER TABLE jobmill.metric ADD CONSTRAINT metric_pkey PRIMARY KEY (resolution, at, scope)
index metric_delta.metric_delta_pkey: ALTER TABLE jobmill.metric_delta ADD CONSTRAINT metric_delta_pkey PRIMARY KEY (n)
index migration.migration_pkey: ALTER TABLE jobmill.migration ADD CONSTRAINT migration_pkey PRIMARY KEY (number)
index names.names_version: CREATE INDEX names_version ON jobmill.names USING btree (version)
index order_check.order_check_pkey: ALTER TABLE jobmill.order_check ADD CONSTRAINT order_check_pkey PRIMARY KEY (n)
index order_lock.order_lock_job_id_key: ALTER TABLE jobmill.order_lock ADD CONSTRAINT order_lock_job_id_key UNIQUE (job_id)
index order_lock.order_lock_pkey: ALTER TABLE jobmill.order_lock ADD CONSTRAINT order_lock_pkey PRIMARY KEY (queue_id, order_key)
index order_queue.order_queue_due: CREATE INDEX order_queue_due ON jobmill.order_queue USING btree (due_at, id)
index order_queue.order_queue_id_key: ALTER TABLE jobmill.order_queue ADD CONSTRAINT order_queue_id_key UNIQUE (id)
index order_queue.order_queue_pkey: ALTER TABLE jobmill.order_queue ADD CONSTRAINT order_queue_pkey PRIMARY KEY (queue_id, order_key, pos)
index past_instance.past_instance_ended: CREATE INDEX past_instance_ended ON jobmill.past_instance USING btree (ended_at)
index past_instance.past_instance_pkey: ALTER TABLE jobmill.past_instance ADD CONSTRAINT past_instance_pkey PRIMARY KEY (id)
index past_instance.past_instance_version: CREATE INDEX past_instance_version ON jobmill.past_instance USING btree (version)
index permit.permit_holder: CREATE INDEX permit_holder ON jobmill.permit USING btree (holder)
index permit.permit_instance: CREATE INDEX permit_instance ON jobmill.permit USING btree (instance)
index permit.permit_pkey: ALTER TABLE jobmill.permit ADD CONSTRAINT permit_pkey PRIMARY KEY (limit_name, holder)
index queue.queue_name_key: ALTER TABLE jobmill.queue ADD CONSTRAINT queue_name_key UNIQUE (name)
index queue.queue_pkey: ALTER TABLE jobmill.queue ADD CONSTRAINT queue_pkey PRIMARY KEY (id)
index ready.ready_id_key: ALTER TABLE jobmill.ready ADD CONSTRAINT ready_id_key UNIQUE (id)
index ready.ready_pkey: ALTER TABLE jobmill.ready ADD CONSTRAINT ready_pkey PRIMARY KEY (queue_id, priority, seq)
index ready.ready_quarantined: CREATE INDEX ready_quarantined ON jobmill.ready USING btree (queue_id, priority, seq) WHERE (crashes >= 2)
index recorded.recorded_pkey: ALTER TABLE jobmill.recorded ADD CONSTRAINT recorded_pkey PRIMARY KEY (source)
index recorded.recorded_time: CREATE INDEX recorded_time ON jobmill.recorded USING btree (recorded_at)
index running.running_cancelled: CREATE INDEX running_cancelled ON jobmill.running USING btree (instance) WHERE (cancel_reason IS NOT NULL)
index running.running_instance: CREATE INDEX running_instance ON jobmill.running USING btree (instance)
index running.running_pkey: ALTER TABLE jobmill.running ADD CONSTRAINT running_pkey PRIMARY KEY (id)
index saved_view.saved_view_pkey: ALTER TABLE jobmill.saved_view ADD CONSTRAINT saved_view_pkey PRIMARY KEY (name)
index schedule.schedule_next: CREATE INDEX schedule_next ON jobmill.schedule USING btree (planned, next_at) WHERE ((NOT paused) AND (NOT deleted))
index schedule.schedule_pkey: ALTER TABLE jobmill.schedule ADD CONSTRAINT schedule_pkey PRIMARY KEY (name)
index slot.slot_pkey: ALTER TABLE jobmill.slot ADD CONSTRAINT slot_pkey PRIMARY KEY (instance, queue_id)
index step.step_pkey: ALTER TABLE jobmill.step ADD CONSTRAINT step_pkey PRIMARY KEY (job_id, name)
index tick.tick_pkey: ALTER TABLE jobmill.tick ADD CONSTRAINT tick_pkey PRIMARY KEY (schedule, at)
index tick.tick_served: CREATE INDEX tick_served ON jobmill.tick USING btree (served_at)
index total.total_pkey: ALTER TABLE jobmill.total ADD CONSTRAINT total_pkey PRIMARY KEY (queue_id, state)
index wake.wake_pkey: ALTER TABLE jobmill.wake ADD CONSTRAINT wake_pkey PRIMARY KEY (id)
sequence kind_ids: integer
sequence last_claim: bigint
sequence queue_ids: integer
sequence seq: bigint
sequence token: bigint
table alert: name text NOT NULL; revision bigint NOT NULL; rule json NOT NULL; state json NOT NULL
table attempt: attempt smallint NOT NULL; crashes smallint NOT NULL; ended_as smallint; ended_at bigint NOT NULL; error text; instance uuid; job_id uuid NOT NULL; log text; outcome smallint NOT NULL; queue_id integer NOT NULL; result json; spent smallint NOT NULL; started_at bigint; taken_back boolean NOT NULL DEFAULT false; token bigint NOT NULL; tries integer NOT NULL
table batch: gone uuid[] NOT NULL DEFAULT '{}'::uuid[]; ids uuid[] NOT NULL; instance uuid NOT NULL; queue_id integer NOT NULL; ready_ats bigint[] NOT NULL; seqs bigint[] NOT NULL; started_at bigint NOT NULL; token bigint NOT NULL
table child: ended_as smallint; error text; id uuid NOT NULL; parent_id uuid NOT NULL; place integer NOT NULL; result text; step text NOT NULL
table dedupe: expires_at bigint; job_id uuid NOT NULL; key text NOT NULL
table duty: expires_at bigint; failures bigint NOT NULL; last_success_at bigint; leader uuid; name text NOT NULL
table event: at bigint NOT NULL; data json NOT NULL; job_id uuid; n bigint NOT NULL GENERATED ALWAYS AS IDENTITY; queue text; source uuid NOT NULL; type text NOT NULL
table group_slot: job_id uuid NOT NULL; name text NOT NULL; queue_id integer NOT NULL
table instance: capacity integer NOT NULL; ended_at bigint; expires_at bigint NOT NULL; id uuid NOT NULL; kinds text[] NOT NULL; label text; lost boolean; on_dead text[] NOT NULL DEFAULT '{}'::text[]; queues text[] NOT NULL; renewed_at bigint NOT NULL; requested text; requested_at bigint; requested_by text; started_at bigint NOT NULL; version text
table job: dedupe_key text; enqueued_at bigint NOT NULL; group_name text; hold_after text; hold_ms bigint; id uuid NOT NULL; kind_id integer NOT NULL; max_attempts smallint NOT NULL; metadata json; order_key text; payload json NOT NULL; priority smallint NOT NULL; queue_id integer NOT NULL; tags text[]; timeout_ms bigint
table job_event: id uuid NOT NULL; job_id uuid NOT NULL; name text NOT NULL; payload text NOT NULL; sent_at bigint NOT NULL; step text
table job_group: changed_at bigint; changed_by text; check_at bigint; concurrency integer; first_place bigint NOT NULL; name text NOT NULL; paused boolean NOT NULL DEFAULT false; queue_id integer NOT NULL; rate integer; rate_per_ms bigint; used_until bigint NOT NULL DEFAULT 0; weight double precision
table job_tag: job_id uuid NOT NULL; tag text NOT NULL
table kind: defaults json; id integer NOT NULL DEFAULT nextval('jobmill.kind_ids'::regclass); name text NOT NULL; on_cancelled boolean NOT NULL DEFAULT false
table later: attempt smallint NOT NULL; crashes smallint NOT NULL; due_at bigint NOT NULL; flags smallint NOT NULL; id uuid NOT NULL; kind_id integer NOT NULL; priority smallint NOT NULL; queue_id integer NOT NULL; tries integer NOT NULL
table limit: amount integer; burst integer; code json; drained_until double precision NOT NULL DEFAULT 0; key text NOT NULL DEFAULT ''::text; look_at bigint NOT NULL DEFAULT 0; most integer; name text NOT NULL; overrides json NOT NULL DEFAULT '{}'::json; paid_at double precision NOT NULL DEFAULT 0; per_key boolean NOT NULL DEFAULT false; per_ms bigint; reserved_until double precision NOT NULL DEFAULT 0
table limit_waiter: holder uuid NOT NULL; key text NOT NULL; limit_name text NOT NULL; taken_at bigint NOT NULL
table lost_job: instance uuid NOT NULL; job_id uuid NOT NULL; token bigint NOT NULL
table members: version bigint NOT NULL
table metric: at bigint NOT NULL; data json NOT NULL; resolution integer NOT NULL; scope text NOT NULL
table metric_delta: at bigint NOT NULL; data json NOT NULL; n bigint NOT NULL GENERATED ALWAYS AS IDENTITY; scope text NOT NULL
table migration: applied_at bigint NOT NULL DEFAULT (floor((EXTRACT(epoch FROM clock_timestamp()) * (1000)::numeric)))::bigint; checksum text NOT NULL; name text NOT NULL; number integer NOT NULL
table names: n bigint NOT NULL; version uuid NOT NULL
table order_check: n bigint NOT NULL GENERATED ALWAYS AS IDENTITY; order_key text NOT NULL; queue_id integer NOT NULL
table order_lock: job_id uuid NOT NULL; order_key text NOT NULL; queue_id integer NOT NULL
table order_queue: attempt smallint NOT NULL DEFAULT 0; crashes smallint NOT NULL DEFAULT 0; due_at bigint NOT NULL; flags smallint NOT NULL; id uuid NOT NULL; kind_id integer NOT NULL; order_key text NOT NULL; pos bigint NOT NULL; priority smallint NOT NULL; queue_id integer NOT NULL; tries integer NOT NULL
table past_instance: ended_at bigint NOT NULL; id uuid NOT NULL; started_at bigint NOT NULL; version text NOT NULL
table permit: amount integer NOT NULL; holder uuid NOT NULL; instance uuid NOT NULL; limit_name text NOT NULL; token bigint
table queue: backoff_base_ms bigint NOT NULL; backoff_enabled boolean NOT NULL; backoff_max_ms bigint NOT NULL; code json; cool_until bigint NOT NULL DEFAULT 0; group_concurrency integer; group_fair boolean NOT NULL DEFAULT false; group_rate integer; group_rate_per_ms bigint; id integer NOT NULL DEFAULT nextval('jobmill.queue_ids'::regclass); keep_cancelled integer; keep_dead integer; keep_done integer; limit_name text; name text NOT NULL; overrides json NOT NULL DEFAULT '{}'::json; paused boolean NOT NULL; retain_cancelled_ms bigint; retain_dead_ms bigint; retain_done_ms bigint; target_latency_ms bigint; throttles integer NOT NULL DEFAULT 0; workers integer
table ready: attempt smallint NOT NULL; crashes smallint NOT NULL; flags smallint NOT NULL; id uuid NOT NULL; kind_id integer NOT NULL; priority smallint NOT NULL; queue_id integer NOT NULL; ready_at bigint NOT NULL; seq bigint NOT NULL; tries integer NOT NULL
table recorded: recorded_at bigint NOT NULL; seq bigint NOT NULL; source uuid NOT NULL
table running: attempt smallint NOT NULL; cancel_reason text; crashes smallint NOT NULL; flags smallint NOT NULL; id uuid NOT NULL; instance uuid NOT NULL; kind_id integer NOT NULL; log text; priority smallint NOT NULL; progress json; queue_id integer NOT NULL; ready_at bigint NOT NULL; seq bigint NOT NULL; started_at bigint NOT NULL; token bigint NOT NULL; tries integer NOT NULL
table saved_view: author text NOT NULL; created_at bigint NOT NULL; name text NOT NULL; search text NOT NULL
table schedule: code json; created_at bigint NOT NULL; deleted boolean NOT NULL DEFAULT false; error text; last_at bigint; last_job uuid; last_outcome text; missed bigint NOT NULL DEFAULT 0; name text NOT NULL; next_at bigint; overrides json NOT NULL; paused boolean NOT NULL; planned boolean NOT NULL DEFAULT false; revision bigint NOT NULL; version bigint
table secret: value text NOT NULL
table settings: version bigint NOT NULL
table slot: instance uuid NOT NULL; queue_id integer NOT NULL; workers integer NOT NULL
table step: checkpoint text; due_at bigint; ended_at bigint; events text[]; job_id uuid NOT NULL; kind smallint NOT NULL; name text NOT NULL; place integer NOT NULL; result text; started_at bigint NOT NULL; token bigint NOT NULL
table tally: from_state smallint; n bigint NOT NULL; queue_id integer NOT NULL; to_state smallint
table tick: at bigint NOT NULL; job_id uuid NOT NULL; outcome text NOT NULL; schedule text NOT NULL; served_at bigint NOT NULL
table total: n bigint NOT NULL; queue_id integer NOT NULL; state smallint NOT NULL
table wake: cancelled boolean NOT NULL DEFAULT false; id uuid NOT NULL DEFAULT gen_random_uuid(); job_id uuid NOT NULL
trigger kind.names_added: CREATE TRIGGER names_added AFTER INSERT ON jobmill.kind REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION jobmill.names_added()
trigger kind.names_altered: CREATE TRIGGER names_altered AFTER DELETE OR UPDATE OF id, name OR TRUNCATE ON jobmill.kind FOR EACH STATEMENT EXECUTE FUNCTION jobmill.names_altered()
trigger queue.names_added: CREATE TRIGGER names_added AFTER INSERT ON jobmill.queue REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION jobmill.names_added()
trigger queue.names_altered: CREATE TRIGGER names_altered AFTER DELETE OR UPDATE OF id, name OR TRUNCATE ON jobmill.queue FOR EACH STATEMENT EXECUTE FUNCTION jobmill.names_altered()
`

export function expectedParts(): Parts {
  return new Map(
    EXPECTED.trim()
      .split('\n')
      .flatMap((line) => {
        const at = line.indexOf(': ')
        const [part, made] = [line.slice(0, at), line.slice(at + 2)]
        return part.startsWith('table ')
          ? [[part, ''] as const, ...columnsOf(part, made)]
          : [[part, made] as const]
      }),
  )
}

/** A shared schema may contain tables of other applications. */
export function ourTables(): string[] {
  return [...expectedParts().keys()].flatMap((part) => (part.startsWith('table ') ? [nameOf(part)] : []))
}

function columnsOf(table: string, text: string): (readonly [string, string])[] {
  return text.split('; ').map((column) => {
    const [name = '', ...made] = column.split(' ')
    return [`column ${table.slice('table '.length)}.${name}`, made.join(' ')] as const
  })
}
