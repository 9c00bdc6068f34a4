-- name: take_place
-- Where the walk stands, if nobody else walks just now and a round is under way or due.
select dropped_upto from scheduler_state
 where dropped_upto is not null or round_began_on is distinct from %(today)s
   for update skip locked

-- name: drop
select * from drop_finished_work_v1(%(after)s, %(before)s, %(now)s, %(sources)s, %(rows)s)

-- name: keep_place
update scheduler_state set dropped_upto = %(last_source)s,
       round_began_on = case when %(begins)s then %(today)s else round_began_on end
